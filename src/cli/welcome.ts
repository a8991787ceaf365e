import { CONTRACT_JSON_PATH, REFERENCE_PATH } from '../common/own-paths.ts';
import { type LeftBehind, leftBehindText } from '../run/left-behind.ts';
import type { DemoKey } from './demo.ts';

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
