import { limitsText } from '@storegate/admin-api/text';
import { CONSOLE_PATH } from '@storegate/console';
import { keyField } from '../common/key-headers.ts';
import { REFERENCE_PATH } from '../common/reserved-paths.ts';
import { stripsPath } from '../config/apis.ts';
import type { Api, Config } from '../config/config.ts';
import { NO_CONTRACT } from '../config/contract/place.ts';
import { printable } from '../config/problems/quote.ts';
import type { ActiveApi } from '../run/apis.ts';
import {
  type UnmigratedKeys,
  unmigratedKeysText,
} from '../run/unmigrated-keys.ts';
import { contractNotes } from './contract-notes.ts';
import type { DemoKey } from './demo.ts';
import { sampleRequests } from './sample-requests.ts';

export interface StartScreen {
  readonly url: string;
  readonly adminUrl: string;
  readonly config: Config;
  readonly apis: readonly ActiveApi[];
  readonly place: string;
  readonly unmigratedKeys: UnmigratedKeys | null;
  /** `null`: none were created at this start. */
  readonly keys: readonly DemoKey[] | null;
}

/** Longer loops take too long to try. */
const MAX_REPEATS = 200;

export function startScreen(screen: StartScreen): string {
  const { unmigratedKeys, place, keys } = screen;
  const [first] = keys ?? [];
  const parts = [
    addresses(screen),
    unmigratedKeys === null ? null : `${unmigratedKeysText(unmigratedKeys)}\n`,
    `${place}\n`,
    first === undefined
      ? null
      : `Demo keys, shown only once:\n${keyTable(keys!)}`,
    requests(screen, first),
    'Press Ctrl-C to stop.\n',
  ];
  return parts.filter((part) => part !== null).join('\n');
}

/** The API that the screen shows: the first with a contract. */
const shownOf = ({ apis }: StartScreen): ActiveApi =>
  apis.find(({ api }) => hasContract(api) && api.host === null) ?? apis[0]!;

const hasContract = ({ contract }: Api): boolean =>
  contract.file !== NO_CONTRACT;

function addresses(screen: StartScreen): string {
  const { url, adminUrl, config, apis } = screen;
  const { api, contract } = shownOf(screen);
  const all = [...config.plans.plans.values()];
  const plan = all.find(({ windows }) => windows !== null) ?? all[0]!;
  const rows = [
    ...(apis.length > 1
      ? [['APIs', apis.map((one) => placeText(one.api)).join(', ')]]
      : []),
    ...(config.reference.enabled && hasContract(api)
      ? [['Reference', `${url}${REFERENCE_PATH}/`]]
      : []),
    config.console.enabled
      ? ['Console', `${adminUrl}${CONSOLE_PATH}/`]
      : ['Admin API', adminUrl],
    [
      'New key',
      `KEY=$(npx storegate keys create --plan ${plan.name} --account acme --key-only)`,
    ],
  ];
  const lines = rows.map(([name, value]) => `  ${name!.padEnd(10)} ${value}\n`);
  const what = hasContract(api)
    ? oneLine(`${contract.title} ${contract.version}`)
    : 'Every path of the backend';
  const notes = contractNotes(api, contract).map(
    (note) => `  Note: ${oneLine(note)}.\n`,
  );
  return `${what} is available at ${url}\n${[...lines, ...notes].join('')}`;
}

function keyTable(keys: readonly DemoKey[]): string {
  return keys
    .map(
      ({ plan, limits, secret }) =>
        `  ${plan.padEnd(12)} ${limitsText(limits).padEnd(36)} ${secret}\n`,
    )
    .join('');
}

/** `notes at /notes`. */
const placeText = ({ name, host, path }: Api): string =>
  `${name} at ${host ?? ''}${path}`;

function requests(
  screen: StartScreen,
  demoKey: DemoKey | undefined,
): string | null {
  const { url, config } = screen;
  const { api, contract } = shownOf(screen);
  const samples = (
    hasContract(api)
      ? sampleRequests(contract)
      : [{ title: 'The root of the backend', path: '/' }]
  ).map(({ title, path }) => ({
    title,
    path: stripsPath(api, contract.prefixes) ? api.path + path : path,
  }));
  if (samples.length === 0) return null;
  const header = `-H "${keyField(api.keys.headers ?? contract.keyHeaders, demoKey?.secret ?? '$KEY').join(': ')}"`;
  const lines = samples.map(
    ({ title, path }) =>
      `  # ${oneLine(title)}\n  curl -i ${quoted(url + path)} ${header}\n`,
  );
  const limit =
    config.plans.plans.get(demoKey?.plan ?? '')?.windows?.[0]?.limit ??
    Number.POSITIVE_INFINITY;
  const curl = `curl -s -o /dev/null -w '%{http_code} ' ${quoted(url + samples[0]!.path)} ${header}`;
  const loop = `  # Exceed the limit: 200 … 429\n  for i in $(seq ${limit + 2}); do ${curl}; done; echo\n`;
  return `Requests to try:\n${lines.join('')}${limit <= MAX_REPEATS ? loop : ''}`;
}

/** Safe for a terminal and behind a `#`. */
const oneLine = (text: string) => printable(text.replace(/\s+/g, ' ').trim());

function quoted(text: string): string {
  const safe = printable(text).replaceAll("'", '%27');
  return /^[\w.~:/%,@+-]+$/.test(safe) ? safe : `'${safe}'`;
}
