import type { Ban } from '@storegate/admin-api';
import { h } from 'preact';
import {
  banTargetOf,
  extendAction,
  liftAction,
} from '../actions/bans-and-usage.ts';
import { useHoursAgo, useQuery, useRefreshWith } from '../api/hooks.ts';
import { type Actions, useActions } from '../parts/action.ts';
import { BanLog, causeColumns } from '../parts/ban-log.ts';
import { ClientLink, Table, Time, timeColumn } from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { queryView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { useMay } from '../session.ts';

/** `storegate bans list` and `bans history`: who is banned now, and who was. */
export function Bans({ place }: { place: Place }) {
  const bans = useQuery('listBans', { every: 5_000 });
  const actions = useActions(bans);
  const mayOperate = useMay('operate');
  return h(View, { title: 'Bans', about: 'Current bans and ban history' }, [
    h('h2', null, 'Current'),
    queryView(bans, ({ bans: inForce }) =>
      h(Banned, { bans: inForce, actions: mayOperate ? actions : null }),
    ),
    h(History, {
      place,
      inForce: bans.value && JSON.stringify(bans.value.bans),
    }),
    actions.dialog,
  ]);
}

function Banned({
  bans,
  actions,
}: {
  bans: readonly Ban[];
  actions: Actions | null;
}) {
  return h(Table<Ban>, {
    caption: 'Current bans',
    rows: bans,
    keyOf: ({ subject }) => subject,
    empty: 'No bans.',
    columns: [
      ['Key or account', subjectOf, 'names'],
      timeColumn('Since', 'since'),
      [
        'Ends',
        ({ until }) => [
          h(Time, { at: until }),
          h('small', null, h(Time, { at: until, relative: true })),
        ],
      ],
      [
        'Level',
        ({ level, nextDuration: next }) => [
          level ?? '–',
          next && h('small', null, `next ${next}`),
        ],
      ],
      ...causeColumns(bans, (ban) => ({
        ...ban,
        author: ban.by ?? (ban.level === null ? null : 'automatic'),
      })),
      actions !== null && [
        'Actions',
        (ban) => h('div', { class: 'row-actions' }, actionsOf(ban, actions)),
      ],
    ],
  });
}

function subjectOf({ key, account, plan }: Ban) {
  const of = [key === null ? null : account, plan].filter(Boolean).join(', ');
  return [h(ClientLink, { who: key ?? account }), h('small', null, of)];
}

/** A ban of a deleted key or plan has no account to name. */
function actionsOf(ban: Ban, { button }: Actions) {
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
  return [button(liftAction(target)), button(extendAction(target, ban.until))];
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
  const reading = useQuery('listBanHistory', {
    params: {
      subject,
      since,
      below: Number(below) || undefined,
      limit: 50,
    },
  });
  useRefreshWith(reading, inForce);
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
    queryView(reading, ({ entries }) =>
      h(BanLog, { entries, empty: 'No bans on record.' }),
    ),
    filters.pager('below', {
      of: 'the history',
      at: below,
      next: reading.value?.next,
    }),
  ];
}
