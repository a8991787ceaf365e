import { h } from 'preact';
import type { LastDay, RefusedParty, RefusedUnits, Trial, TriedWindow } from '../../../admin-api.ts';
import { Badge, Missing, Notice } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';
import { WhoLink } from '../../parts/who-link.ts';
import { clockTime, number, plural } from '../../words.ts';
import { LateOnes } from '../top.ts';

/** What the limits would have done in the last day. */
export function TriedDay({ trial: { lastDay } }: { trial: Trial }) {
  if (!lastDay) return null;
  return [
    h('h3', { key: 'title' }, 'On the last day'),
    lastDay.since === null
      ? h('p', { key: 'none', class: 'empty' }, 'No gateway answered that knows of it.')
      : h(Day, { key: 'day', day: lastDay }),
  ];
}

function Day({ day }: { day: LastDay }) {
  const { since, requests, windows, parties, gateways } = day;
  return [
    h(Missing, { key: 'missing', ...day }),
    h(Verdict, { key: 'verdict', day }),
    h(
      'p',
      { key: 'about', class: 'soft' },
      'Each window by itself, on what was admitted since ',
      h(Time, { at: since }),
      `. In the last day, without the minute that runs, ${number(requests.admitted)} requests of this plan were admitted`,
      requests.refused > 0
        ? `, and ${number(requests.refused)} refused by limits and bans: larger limits would let these come again. `
        : '. ',
      h(LateOnes, { gateways }),
    ),
    h(Windows, { key: 'windows', windows }),
    parties.length > 0 && h(Parties, { key: 'parties', parties, windows }),
  ];
}

/** The answer in a sentence, as far as there is one. */
function Verdict({ day: { since, windows, parties, silent, gateways, apart } }: { day: LastDay }) {
  const limited = Math.max(0, ...windows.map((window) => window.limited));
  const unknown = windows.filter(({ counted }) => !counted).map(({ name }) => name);
  const later = windows.filter((window) => window.since !== null && window.since > since!);
  const unsure = windows.filter(isUnsure);
  const isWhole =
    unknown.length + later.length + unsure.length + silent.length === 0 &&
    apart === null &&
    gateways.every(({ missing }) => missing === 0);
  const remarks = [
    unknown.length > 0 &&
      `What was used by ${unknown.join(' and ')} is not known: the plan did not count so until now.`,
    ...later.map((window) => `By ${window.name} the plan counts since ${clockTime(window.since!)} only.`),
    ...unsure.map(
      ({ name, floor }) =>
        `By ${name} more may have been limited than are named: uses of up to ${number(floor!)} were too many to be kept.`,
    ),
  ].filter((remark) => remark !== false);
  if (parties.length > 0) {
    return h(Notice, { tone: 'warn' }, h('p', null, wouldHave(parties, limited)), remarks.map(asParagraph));
  }
  const nobody = isWhole ? 'Nobody would have been limited.' : 'As far as is known, nobody would have been limited.';
  return h(Notice, { tone: isWhole ? 'good' : 'plain' }, h('p', null, nobody), remarks.map(asParagraph));
}

const asParagraph = (text: string) => h('p', { key: text }, text);

/** At most 100 are named; windows count all. */
function wouldHave(parties: readonly RefusedParty[], limited: number): string {
  const count = plural(Math.max(parties.length, limited), parties.some(({ key }) => key === null) ? 'account' : 'key');
  return `${limited > parties.length ? 'At least ' : ''}${count} would have been limited.`;
}

const isUnsure = ({ floor, limit }: TriedWindow) => floor !== null && floor > limit;

function Windows({ windows }: { windows: readonly TriedWindow[] }) {
  return h(Table<TriedWindow>, {
    caption: 'What each window would have refused',
    rows: windows,
    keyOf: ({ name }) => name,
    empty: 'There is no window.',
    columns: [
      { title: 'Window', names: true, cell: ({ name }) => name },
      { title: 'Kind', cell: ({ kind }) => kind },
      { title: 'Limit', figure: true, cell: ({ limit }) => number(limit) },
      {
        title: 'Would have limited',
        figure: true,
        cell: (window) =>
          window.counted ? `${number(window.limited)}${isUnsure(window) ? ' or more' : ''}` : 'not known',
      },
      { title: 'Would have refused', figure: true, cell: ({ refused }) => unitsInWords(refused) },
    ],
  });
}

type Row = RefusedParty['windows'][number] & Pick<RefusedParty, 'key' | 'account'>;

function Parties({ parties, windows }: { parties: readonly RefusedParty[]; windows: readonly TriedWindow[] }) {
  const limitOf = (name: string) => windows.find((window) => window.name === name)?.limit ?? 0;
  return h(Table<Row>, {
    caption: 'Who would have been limited',
    rows: parties.flatMap(({ key, account, windows: each }) => each.map((window) => ({ ...window, key, account }))),
    keyOf: ({ key, account, window }) => `${key} ${account} ${window}`,
    empty: 'Nobody would have been limited.',
    columns: [
      ...(parties.some(({ key }) => key !== null)
        ? [{ title: 'Key', names: true, cell: ({ key }: Row) => h(WhoLink, { who: key }) }]
        : []),
      { title: 'Account', cell: ({ account }) => h(WhoLink, { who: account }) },
      { title: 'By', cell: ({ window }) => h(Badge, null, window) },
      {
        title: 'Used at most',
        figure: true,
        cell: ({ peak, window }) => `${number(peak)} of ${number(limitOf(window))}`,
      },
      { title: 'In the window from', cell: ({ began }) => h(Time, { at: began }) },
      { title: 'Times', figure: true, cell: ({ times }) => number(times) },
      { title: 'Would have refused', figure: true, cell: ({ refused }) => unitsInWords(refused) },
    ],
  });
}

function unitsInWords(refused: RefusedUnits | null): string {
  if (refused === null) return '–';
  const { least, most } = refused;
  if (most === null) return `${number(least)} or more`;
  return least === most ? number(least) : `${number(least)} to ${number(most)}`;
}
