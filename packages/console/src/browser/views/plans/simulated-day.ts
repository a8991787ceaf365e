import type {
  LastDay,
  PlanSimulation,
  RefusedSubject,
  SimulatedWindow,
} from '@storegate/admin-api';
import {
  limitedText,
  missingGateways,
  NO_LAST_DAY,
  number,
  plural,
  simulatedRequests,
  simulationGaps,
  unitsText,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { clockTime } from '../../format.ts';
import {
  Badge,
  clientColumn,
  countColumn,
  rowHeader,
  Table,
  textColumn,
  timeColumn,
} from '../../parts/data.ts';
import { asParagraph, Missing, Notice } from '../../parts/view.ts';

export function SimulatedDay({
  trial: { lastDay },
}: {
  trial: PlanSimulation;
}) {
  if (!lastDay) return null;
  return [
    h('h3', null, 'On the last day'),
    lastDay.since === null
      ? h('p', { class: 'empty' }, NO_LAST_DAY)
      : h(Day, { day: lastDay }),
  ];
}

function Day({ day }: { day: LastDay }) {
  const { windows, subjects } = day;
  return [
    h(Missing, { ...day }),
    h(Verdict, { day }),
    h('p', { class: 'soft' }, simulatedRequests(day, clockTime).join(' ')),
    h(Windows, { windows }),
    subjects.length > 0 && h(Subjects, { subjects, windows }),
  ];
}

/** The result in a sentence, as far as there is one. */
function Verdict({ day }: { day: LastDay }) {
  const gaps = simulationGaps(day, clockTime);
  const isWhole = [...gaps, ...missingGateways(day)].length === 0;
  const none = `No client would have been limited${isWhole ? '' : ', as far as known'}.`;
  const isLimited = day.subjects.length > 0;
  const tone = isLimited ? 'warn' : isWhole ? 'good' : 'plain';
  return h(
    Notice,
    { tone },
    [isLimited ? wouldHave(day) : none, ...gaps].map(asParagraph),
  );
}

/** At most 100 are named; windows count all. */
function wouldHave({ subjects, windows }: LastDay): string {
  const limited = Math.max(0, ...windows.map((window) => window.limited));
  const noun = subjects.some(({ key }) => key === null) ? 'account' : 'key';
  const count = plural(Math.max(subjects.length, limited), noun);
  return `${limited > subjects.length ? 'At least ' : ''}${count} would have been limited.`;
}

function Windows({ windows }: Pick<LastDay, 'windows'>) {
  return h(Table<SimulatedWindow>, {
    caption: 'Refusals by window',
    rows: windows,
    keyOf: ({ name }) => name,
    empty: 'No windows.',
    columns: [
      rowHeader(textColumn('Window', 'name')),
      textColumn('Kind', 'kind'),
      countColumn('Limit', 'limit'),
      ['Would have limited', limitedText, 'figure'],
      [
        'Would have refused',
        ({ refused }) => (refused ? unitsText(refused) : '–'),
        'figure',
      ],
    ],
  });
}

type Row = RefusedSubject['windows'][number] &
  Pick<RefusedSubject, 'key' | 'account'>;

function Subjects({
  subjects,
  windows,
}: Pick<LastDay, 'subjects' | 'windows'>) {
  const limitOf = (name: string) =>
    windows.find((window) => window.name === name)?.limit ?? 0;
  return h(Table<Row>, {
    caption: 'Limited clients',
    rows: subjects.flatMap(({ key, account, windows: each }) =>
      each.map((window) => ({ ...window, key, account })),
    ),
    keyOf: ({ key, account, window }) => `${key} ${account} ${window}`,
    columns: [
      subjects.some(({ key }) => key !== null) &&
        rowHeader(clientColumn('Key', 'key')),
      clientColumn('Account', 'account'),
      ['By', ({ window }) => h(Badge, null, window)],
      [
        'Highest use',
        ({ peak, window }) => `${number(peak)} of ${number(limitOf(window))}`,
        'figure',
      ],
      timeColumn('In the window from', 'began'),
      countColumn('Times', 'times'),
      ['Would have refused', ({ refused }) => unitsText(refused), 'figure'],
    ],
  });
}
