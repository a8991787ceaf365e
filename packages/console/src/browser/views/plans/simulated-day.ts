import { h } from 'preact';
import type { LastDay, PlanSimulation, RefusedSubject, SimulatedWindow } from '../../../admin-api.ts';
import { clockTime, number, plural } from '../../format.ts';
import { ClientLink } from '../../parts/client-link.ts';
import { Badge, Missing, Notice } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';
import { missingWorkers } from '../../sentences/gateways.ts';
import {
  limitedInWords,
  NO_LAST_DAY,
  simulatedRequests,
  simulationGaps,
  unitsInWords,
} from '../../sentences/last-day.ts';

/** What the limits would have done in the last day. */
export function SimulatedDay({ trial: { lastDay } }: { trial: PlanSimulation }) {
  if (!lastDay) return null;
  return [
    h('h3', null, 'On the last day'),
    lastDay.since === null ? h('p', { class: 'empty' }, NO_LAST_DAY) : h(Day, { day: lastDay }),
  ];
}

function Day({ day }: { day: LastDay }) {
  const { windows, subjects, gateways } = day;
  return [
    h(Missing, { ...day }),
    h(Verdict, { day }),
    h('p', { class: 'soft' }, [...simulatedRequests(day, clockTime), ...missingWorkers(gateways)].join(' ')),
    h(Windows, { windows }),
    subjects.length > 0 && h(Parties, { parties: subjects, windows }),
  ];
}

/** The answer in a sentence, as far as there is one. */
function Verdict({ day }: { day: LastDay }) {
  const { windows, subjects, unresponsive, gateways, isolated } = day;
  const limited = Math.max(0, ...windows.map((window) => window.limited));
  const remarks = simulationGaps(day, clockTime);
  const isWhole =
    remarks.length + unresponsive.length === 0 && isolated === null && gateways.every(({ missing }) => missing === 0);
  if (subjects.length > 0) {
    return h(Notice, { tone: 'warn' }, h('p', null, wouldHave(subjects, limited)), remarks.map(asParagraph));
  }
  const verdict = isWhole
    ? 'No client would have been limited.'
    : 'No client would have been limited, as far as known.';
  return h(Notice, { tone: isWhole ? 'good' : 'plain' }, h('p', null, verdict), remarks.map(asParagraph));
}

const asParagraph = (text: string) => h('p', { key: text }, text);

/** At most 100 are named; windows count all. */
function wouldHave(subjects: readonly RefusedSubject[], limited: number): string {
  const count = plural(
    Math.max(subjects.length, limited),
    subjects.some(({ key }) => key === null) ? 'account' : 'key',
  );
  return `${limited > subjects.length ? 'At least ' : ''}${count} would have been limited.`;
}

function Windows({ windows }: { windows: readonly SimulatedWindow[] }) {
  return h(Table<SimulatedWindow>, {
    caption: 'Refusals by window',
    rows: windows,
    keyOf: ({ name }) => name,
    empty: 'No windows.',
    columns: [
      { title: 'Window', names: true, cell: ({ name }) => name },
      { title: 'Kind', cell: ({ kind }) => kind },
      { title: 'Limit', figure: true, cell: ({ limit }) => number(limit) },
      {
        title: 'Would have limited',
        figure: true,
        cell: limitedInWords,
      },
      { title: 'Would have refused', figure: true, cell: ({ refused }) => (refused ? unitsInWords(refused) : '–') },
    ],
  });
}

type Row = RefusedSubject['windows'][number] & Pick<RefusedSubject, 'key' | 'account'>;

function Parties({
  parties: subjects,
  windows,
}: {
  parties: readonly RefusedSubject[];
  windows: readonly SimulatedWindow[];
}) {
  const limitOf = (name: string) => windows.find((window) => window.name === name)?.limit ?? 0;
  return h(Table<Row>, {
    caption: 'Limited clients',
    rows: subjects.flatMap(({ key, account, windows: each }) => each.map((window) => ({ ...window, key, account }))),
    keyOf: ({ key, account, window }) => `${key} ${account} ${window}`,
    empty: 'No client would have been limited.',
    columns: [
      ...(subjects.some(({ key }) => key !== null)
        ? [{ title: 'Key', names: true, cell: ({ key }: Row) => h(ClientLink, { who: key }) }]
        : []),
      { title: 'Account', cell: ({ account }) => h(ClientLink, { who: account }) },
      { title: 'By', cell: ({ window }) => h(Badge, null, window) },
      {
        title: 'Highest use',
        figure: true,
        cell: ({ peak, window }) => `${number(peak)} of ${number(limitOf(window))}`,
      },
      { title: 'In the window from', cell: ({ began }) => h(Time, { at: began }) },
      { title: 'Times', figure: true, cell: ({ times }) => number(times) },
      { title: 'Would have refused', figure: true, cell: ({ refused }) => unitsInWords(refused) },
    ],
  });
}
