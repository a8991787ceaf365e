import type { Ban } from '@storegate/admin-api';
import { h } from 'preact';
import { banTargetOf, extendAct, liftAct } from '../acts/bans-and-usage.ts';
import { useAnswer, useHoursAgo, useRefreshWith } from '../api/hooks.ts';
import { type Acts, useActs } from '../parts/act.ts';
import { BanLog, causeColumns } from '../parts/ban-log.ts';
import { bothTimes, ClientLink, Table, timeColumn } from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { answerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { useMay } from '../session.ts';

/** `storegate bans list` and `bans history`: who is banned now, and who was. */
export function Bans({ place }: { place: Place }) {
  const bans = useAnswer('listBans', { every: 5_000 });
  const acts = useActs(bans);
  const mayAct = useMay('operate');
  return h(View, { title: 'Bans', about: 'Current bans and ban history' }, [
    h('h2', null, 'Current'),
    answerView(bans, ({ bans: inForce }) =>
      h(Banned, { bans: inForce, acts: mayAct ? acts : null }),
    ),
    h(History, {
      place,
      inForce: bans.value && JSON.stringify(bans.value.bans),
    }),
    acts.dialog,
  ]);
}

function Banned({ bans, acts }: { bans: readonly Ban[]; acts: Acts | null }) {
  return h(Table<Ban>, {
    caption: 'Current bans',
    rows: bans,
    keyOf: ({ subject }) => subject,
    empty: 'No bans.',
    columns: [
      { title: 'Key or account', names: true, cell: subjectOf },
      timeColumn('Since', 'since'),
      { title: 'Ends', cell: ({ until }) => bothTimes(until) },
      {
        title: 'Level',
        cell: ({ level, nextDuration: next }) => [
          level ?? '–',
          next && h('small', null, `next ${next}`),
        ],
      },
      ...causeColumns(bans, (ban) => ban),
      {
        title: 'By',
        cell: ({ by, level }) =>
          h(
            'span',
            { class: 'by' },
            by ?? (level === null ? '–' : 'automatic'),
          ),
      },
      acts !== null && {
        title: 'Acts',
        cell: (ban) => h('div', { class: 'row-acts' }, actsOf(ban, acts)),
      },
    ],
  });
}

function subjectOf({ key, account, plan }: Ban) {
  const of = [key === null ? null : account, plan].filter(Boolean).join(', ');
  return [h(ClientLink, { who: key ?? account }), h('small', null, of)];
}

/** A ban of a deleted key or plan has no account to name. */
function actsOf(ban: Ban, { button }: Acts) {
  const subject = ban.key ?? ban.account;
  if (subject === null) return '–';
  // An account may be banned on several plans, and is named as a whole.
  const target = banTargetOf(subject, [
    {
      ...ban,
      account: ban.account ?? subject,
      plan: ban.key === null ? null : ban.plan,
    },
  ]);
  return [button(liftAct(target)), button(extendAct(target, ban.until))];
}

const SPANS = [
  ['', 'all that is kept'],
  ['1', 'the last hour'],
  ['24', 'the last day'],
  ['168', 'the last 7 days'],
  ['720', 'the last 30 days'],
] as const;

/** `inForce`: the bans in force, with which the history changes. */
function History({
  place: { query },
  inForce,
}: {
  place: Place;
  inForce: string | null;
}) {
  const { subject = '', hours = '', below = '' } = query;
  const since = useHoursAgo(hours);
  const answer = useAnswer('listBanHistory', {
    params: {
      subject,
      since,
      below: Number(below) || undefined,
      limit: 50,
    },
  });
  useRefreshWith(answer, inForce);
  const filters = filtersOf('bans', { subject, hours });

  return [
    h('h2', null, 'History'),
    h(
      Filters,
      {
        label: 'Filter the history',
        onChange: filters.onChange,
        all: (subject || hours) && linkTo('bans'),
      },
      filters.search('subject', 'Key or account', 64, 'key id or account'),
      filters.choice('hours', 'Since', SPANS),
    ),
    answerView(answer, ({ entries }) =>
      h(BanLog, { entries, empty: 'No bans on record.' }),
    ),
    filters.pager('below', {
      of: 'the history',
      at: below,
      next: answer.value?.next,
    }),
  ];
}
