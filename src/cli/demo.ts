import { auditedKey } from '../admin/view.ts';
import type { Config } from '../config/config.ts';
import { formatWindows, parseWindows } from '../config/windows.ts';
import {
  createKey,
  type KeyChange,
  type KeyEdit,
} from '../records/keys/manage.ts';
import type { KeyStore } from '../records/keys/store.ts';
import { windowsOf } from '../records/keys/subjects.ts';
import { withKeys } from './connect/storage.ts';

const CUSTOM = parseWindows('5000/minute,1000000/day');

export interface DemoKey {
  readonly plan: string;
  readonly limits: string;
  readonly secret: string;
}

/** Logs a key that no operator created. */
export function editBy(actor: string, store: KeyStore): KeyEdit {
  const now = Date.now();
  const entryOf = ({ after }: KeyChange) => {
    const action = 'keys.create';
    return {
      at: now,
      actor,
      action,
      target: after.id,
      before: null,
      after: auditedKey(after, now),
      requestId: '',
    };
  };
  return {
    store,
    now,
    auditNoteOf: (change) => ({ entry: entryOf(change), idempotent: null }),
  };
}

/** `null` if a key exists. */
export function makeDemoKeys(config: Config): Promise<DemoKey[] | null> {
  const { plans } = config;
  return withKeys(config, async (store) => {
    if (!(await store.isEmpty())) return null;
    const made: DemoKey[] = [];
    for (const plan of plans.plans.values()) {
      const windows = windowsOf(
        { account: 'demo', plan: plan.name, windows: null },
        plans,
      );
      if (!windows && plan.count === 'account') continue;
      const draft = {
        account: 'demo',
        plan: plan.name,
        label: 'made at the first start',
        env: 'demo',
        windows: windows ? null : CUSTOM,
      };
      const { secret } = await createKey(
        editBy('first start', store),
        plans,
        draft,
      );
      made.push({
        plan: plan.name,
        limits: formatWindows(windows ?? CUSTOM),
        secret,
      });
    }
    return made;
  });
}
