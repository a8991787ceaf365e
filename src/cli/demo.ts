import { auditedKey } from '../admin/view.ts';
import type { Config } from '../config/config.ts';
import { formatWindows, parseWindows } from '../config/windows.ts';
import { type AuditNoteOf, createKey } from '../keys/manage.ts';
import { windowsOf } from '../keys/subjects.ts';
import { withKeys } from './with-keystore.ts';

const CUSTOM = parseWindows('5000/minute,1000000/day');

export interface DemoKey {
  readonly plan: string;
  readonly limits: string;
  readonly secret: string;
}

/** The audit entry of a key that no operator created. */
export const auditNoteBy =
  (actor: string): AuditNoteOf =>
  ({ after }) => ({
    entry: {
      at: after.createdAt,
      actor,
      action: 'keys.create',
      target: after.id,
      before: null,
      after: auditedKey(after, after.createdAt),
      requestId: '',
    },
    idempotent: null,
  });

/** `null` if a key exists. */
export function makeDemoKeys(config: Config): Promise<DemoKey[] | null> {
  const { plans } = config;
  return withKeys(config, async (store) => {
    if (!(await store.isEmpty())) return null;
    const made: DemoKey[] = [];
    for (const plan of plans.plans.values()) {
      const windows = windowsOf({ account: 'demo', plan: plan.name, windows: null }, plans);
      if (!windows && plan.count === 'account') continue;
      const draft = {
        account: 'demo',
        plan: plan.name,
        label: 'made at the first start',
        env: 'demo',
        windows: windows ? null : CUSTOM,
      };
      const { secret } = await createKey(store, plans, draft, Date.now(), auditNoteBy('first start'));
      made.push({ plan: plan.name, limits: formatWindows(windows ?? CUSTOM), secret });
    }
    return made;
  });
}
