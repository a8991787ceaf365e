import type {
  Audit,
  Entry,
  KeyCall,
  RefusedRequest,
  Requests,
} from '@storegate/admin-api';
import { number, operationText } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useQuery, useRefreshWith } from '../../api/hooks.ts';
import { milliseconds, total } from '../../format.ts';
import { BanLog } from '../../parts/ban-log.ts';
import {
  ageColumn,
  ClientLink,
  countColumn,
  isKeyId,
  reasonColumn,
  rowHeader,
  statusWithCode,
  Table,
  Time,
  textColumn,
  timeColumn,
} from '../../parts/data.ts';
import { queryView } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';
import { changeText } from '../audit/changes.ts';

const SHOWN = 20;
/** Refusals and failures in memory, by which addresses are counted. */
const COUNTED = 200;

/** What a key or an account has left behind. */
export type SubjectRecords = ReturnType<typeof useSubject>;

export function useSubject(name: string) {
  const isKey = isKeyId(name);
  // An account may have many keys, each of which is looked at.
  const usage = useQuery('getUsage', {
    params: { subject: name },
    every: isKey ? 5_000 : 15_000,
  });
  const bans = useQuery('listBanHistory', {
    params: { subject: name, limit: SHOWN },
  });
  const refusals = useQuery('listRequests', {
    params: {
      key: isKey ? name : undefined,
      account: isKey ? undefined : name,
      limit: COUNTED,
    },
    every: 10_000,
  });
  const changes = useQuery('listAudit', {
    params: { target: name, limit: SHOWN },
  });
  useRefreshWith(
    bans,
    usage.value &&
      JSON.stringify(usage.value.usage.map(({ banned }) => banned)),
  );
  return { usage, bans, refusals, changes };
}

/** What a subject was refused, its bans, and what people changed of it, newest first. */
export function Activity({
  name,
  subject,
}: {
  name: string;
  subject: SubjectRecords;
}) {
  return [
    queryView(subject.refusals, (response) => [
      isKeyId(name) && h(LastCalls, { ...response }),
      h('h2', null, 'Latest refusals and failures'),
      h(Refused, { name, ...response }),
      h(Addresses, { ...response }),
      more(
        'live',
        linkTo('requests', '', { [isKeyId(name) ? 'key' : 'account']: name }),
        'Follow its refusals',
      ),
    ]),
    h('h2', null, 'Bans'),
    queryView(subject.bans, ({ entries, next }) => [
      h(BanLog, { of: name, entries, empty: 'No bans on record.' }),
      next !== null &&
        more('bans', linkTo('bans', '', { subject: name }), 'All its bans'),
    ]),
    h('h2', null, 'Admin changes'),
    !isKeyId(name) &&
      h(
        'p',
        { class: 'about' },
        'Changes of the account; changes of its keys are listed with each key.',
      ),
    queryView(subject.changes, ({ entries, next }) => [
      h(Changed, { entries }),
      next !== null &&
        more('audit', linkTo('audit', '', { target: name }), 'All its changes'),
    ]),
  ];
}

const more = (key: string, href: string, text: string) =>
  h('p', { key }, h('a', { href }, text));

function Refused({
  name,
  requests,
}: { name: string } & Pick<Requests, 'requests'>) {
  return h(Table<Alike>, {
    caption: 'Latest refusals and failures',
    rows: folded(requests).slice(0, SHOWN),
    keyOf: ({ id }) => id,
    empty: 'None in memory. Gateways keep the latest ones until they stop.',
    columns: [
      timeColumn('When', 'at'),
      ['Request', requestLink, 'names'],
      ['Code', statusWithCode],
      reasonColumn('Message', 'message'),
      requests.some(({ key }) => key && key.id !== name) && [
        'Key',
        ({ key }) => h(ClientLink, { who: key?.id ?? null }),
      ],
      textColumn('From', 'address'),
      ['Times', timesOf, 'figure'],
    ],
  });
}

/** Who used the key, from where. */
function LastCalls({ calls }: Pick<Requests, 'calls'>) {
  return [
    h('h2', null, 'Last successful calls'),
    h(Table<KeyCall>, {
      caption: 'Last successful calls',
      rows: calls,
      keyOf: (call) => JSON.stringify(call),
      empty: 'None in memory. Gateways keep 20 per key until they stop.',
      columns: [
        timeColumn('When', 'at'),
        [
          'Request',
          ({ method, operation }) => `${method} ${operationText(operation)}`,
          'names',
        ],
        textColumn('Status', 'status'),
        textColumn('From', 'address'),
        ['Took', ({ duration }) => milliseconds(duration), 'figure'],
      ],
    }),
  ];
}

interface AddressRow {
  readonly address: string;
  readonly calls: number;
  readonly refused: number;
  readonly last: string;
}

/** Where they came from. */
function Addresses({ requests, calls }: Pick<Requests, 'requests' | 'calls'>) {
  const all = [
    ...calls.map(({ address, at }) => ({ address, at, good: 1, bad: 0 })),
    ...requests.map(({ address, at, repeated }) => ({
      address,
      at,
      good: 0,
      bad: repeated + 1,
    })),
  ];
  const rows = [...Map.groupBy(all, ({ address }) => address)].map(
    ([address, some]): AddressRow => ({
      address,
      calls: total(some, ({ good }) => good),
      refused: total(some, ({ bad }) => bad),
      last: some
        .map(({ at }) => at)
        .sort()
        .at(-1)!,
    }),
  );
  if (rows.length === 0) return null;
  return h(Table<AddressRow>, {
    caption: 'Addresses of requests',
    rows: rows
      .sort((one, other) => Date.parse(other.last) - Date.parse(one.last))
      .slice(0, SHOWN),
    keyOf: ({ address }) => address,
    columns: [
      rowHeader(textColumn('Address', 'address')),
      calls.length > 0 && countColumn('Last calls', 'calls'),
      countColumn('Refused or failed', 'refused'),
      ageColumn('Last', 'last'),
    ],
  });
}

const requestLink = ({ id, method, operation }: Alike) =>
  h(
    'a',
    { href: linkTo('requests', id), title: 'Reason' },
    `${method} ${operationText(operation)}`,
  );

const timesOf = ({ times, since }: Alike) =>
  times === 1 ? '1' : [`${number(times)} since `, h(Time, { at: since })];

/** The newest of some refusals that are alike, and how many there were. */
type Alike = RefusedRequest & {
  readonly times: number;
  readonly since: string;
};

/** Refusals that follow each other and say the same are one row. */
function folded(requests: readonly RefusedRequest[]): readonly Alike[] {
  const rows: Alike[] = [];
  const like = ({
    method,
    operation,
    code,
    status,
    key,
    address,
  }: RefusedRequest) =>
    JSON.stringify([method, operation, code, status, key?.id, address]);
  for (const one of requests) {
    const last = rows.at(-1);
    const times = one.repeated + 1;
    if (last && like(last) === like(one))
      rows[rows.length - 1] = {
        ...last,
        times: last.times + times,
        since: one.at,
      };
    else rows.push({ ...one, times, since: one.at });
  }
  return rows;
}

function Changed({ entries }: Pick<Audit, 'entries'>) {
  return h(Table<Entry>, {
    caption: 'Admin changes',
    rows: entries,
    keyOf: ({ number: one }) => one,
    empty: 'No entries in the audit log.',
    columns: [
      timeColumn('When', 'at'),
      rowHeader(textColumn('What', 'action')),
      ['Change', (entry) => h('span', { class: 'reason' }, changeText(entry))],
      reasonColumn('Reason', 'reason'),
      textColumn('By', 'actor'),
    ],
  });
}
