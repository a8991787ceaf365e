import { auditedKey } from '../admin/shown.ts';
import { CONTRACT_JSON_PATH, REFERENCE_PATH } from '../common/own-paths.ts';
import type { Config } from '../config/config.ts';
import { formatWindows, parseWindows } from '../config/windows.ts';
import { windowsOf } from '../keys/counting.ts';
import { type AuditNoteOf, createKey } from '../keys/manage.ts';
import { type LeftBehind, leftBehindText } from '../run/left-behind.ts';
import { withKeys } from './with-keystore.ts';

/** The limits of the demo key of a custom plan. */
const CUSTOM = parseWindows('5000/minute,1000000/day');

export interface DemoKey {
  readonly plan: string;
  readonly limits: string;
  readonly secret: string;
}

/** The audit entry of a demo key. No person asked for it, so its actor is the first start. */
const auditNoteOf: AuditNoteOf = ({ after }) => ({
  entry: {
    at: after.createdAt,
    actor: 'first start',
    action: 'keys.create',
    target: after.id,
    before: null,
    after: auditedKey(after, after.createdAt),
    requestId: '',
  },
  idempotent: null,
});

/** Makes one key for each plan if no key was ever issued; `null` otherwise. */
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
      const { secret } = await createKey(store, plans, draft, Date.now(), auditNoteOf);
      made.push({ plan: plan.name, limits: formatWindows(windows ?? CUSTOM), secret });
    }
    return made;
  });
}

/** The text that a person sees after the start. */
export function welcome({
  url,
  adminUrl,
  place,
  leftBehind,
  keys,
}: {
  url: string;
  adminUrl: string;
  /** Where keys and data are. */
  place: string;
  leftBehind: LeftBehind | null;
  keys: DemoKey[] | null;
}): string {
  const where = `storegate answers at ${url} (contract: ${url}${CONTRACT_JSON_PATH}, reference: ${url}${REFERENCE_PATH}/; operators: ${adminUrl}/metrics)\n`;
  if (!keys || keys.length === 0) {
    const warning = leftBehind ? `\n${leftBehindText(leftBehind)}\n\n` : '';
    return `${where}${warning}${place} To make a key: npx storegate keys create --plan free --account acme\n`;
  }
  const first = keys[0]!.secret;
  const table = keys
    .map(({ plan, limits, secret }) => `  ${plan.padEnd(12)} ${limits.padEnd(26)} ${secret}`)
    .join('\n');
  return `${where}
${place} One demo key per plan, shown this once:
${table}

Requests to paste:
  # succeeds, and shows the limit headers
  curl -i ${url}/pets -H 'X-API-Key: ${first}'

  # goes on until the limit: 200 200 … 429
  for i in $(seq 62); do curl -s -o /dev/null -w '%{http_code} ' ${url}/categories -H 'X-API-Key: ${first}'; done; echo

  # does not fit the contract: 400 with every fault
  curl -i ${url}/pets -H 'X-API-Key: ${keys.at(1)?.secret ?? first}' -H 'Content-Type: application/json' -d '{"name": 7}'

Ctrl-C drains and stops.
`;
}
