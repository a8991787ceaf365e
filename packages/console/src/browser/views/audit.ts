import type { Entry } from '@storegate/admin-api';
import { number } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { useHoursAgo, useQuery } from '../api/hooks.ts';
import {
  Badge,
  ClientLink,
  Facts,
  planLink,
  reasonColumn,
  Table,
  timeColumn,
} from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { queryView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { changeText, type FieldChange, whatChanged } from './audit/changes.ts';

const SINCE = [
  ['', 'Any time'],
  ['1', 'The last hour'],
  ['24', 'The last day'],
  ['168', 'The last week'],
] as const;

/** `storegate audit list`: who changed what, and when. */
export function Audit({ place: { query } }: { place: Place }) {
  const {
    actor = '',
    action = '',
    target = '',
    since = '',
    below = '',
  } = query;
  const [isLive, setLive] = useState(false);
  const reading = useQuery('listAudit', {
    params: {
      actor,
      action,
      target,
      since: useHoursAgo(since),
      below: Number(below) || undefined,
      limit: 50,
    },
    every: isLive ? 10_000 : undefined,
  });
  const filters = filtersOf('audit', { actor, action, target, since });

  return h(
    View,
    {
      title: 'Audit',
      about: 'Changes by operators and by the gateway',
      actions: h('label', { class: 'check' }, [
        h('input', {
          type: 'checkbox',
          checked: isLive,
          onChange: (event: Event) =>
            setLive((event.currentTarget as HTMLInputElement).checked),
        }),
        ' Refresh every 10 s',
      ]),
    },
    h(
      Filters,
      {
        label: 'Filter the audit log',
        onChange: filters.onChange,
        all: (actor || action || target || since || below) && linkTo('audit'),
      },
      filters.search('actor', 'Operator', 100),
      filters.search('action', 'Action', 40, 'keys.rotate'),
      filters.search('target', 'Key, account, plan or token', 100),
      filters.choice('since', 'Since', SINCE),
    ),
    queryView(reading, ({ entries }) => h(Entries, { entries })),
    filters.pager('below', {
      of: 'the audit log',
      at: below,
      next: reading.value?.next,
    }),
  );
}

function Entries({ entries }: { entries: readonly Entry[] }) {
  return h(Table<Entry>, {
    caption: 'Audit log, newest first',
    rows: entries,
    keyOf: (entry) => entry.number,
    empty: 'No matching entries.',
    toneOf: ({ action }) => (isFailed(action) ? 'bad' : undefined),
    columns: [
      ['No.', (entry) => number(entry.number), 'figure'],
      timeColumn('When', 'at'),
      [
        'Operator',
        ({ actor }) => h('a', { href: linkTo('audit', '', { actor }) }, actor),
      ],
      ['Did', actionOf, 'names'],
      ['To', targetOf],
      reasonColumn('Reason', 'reason'),
      ['What changed', changesOf],
    ],
  });
}

const isFailed = (action: string) => action.endsWith('.failed');

/** An entry `….failed` takes back the one before it. */
function actionOf({ action }: Entry) {
  if (!isFailed(action)) return h('code', null, action);
  return [
    h('code', null, action.replace(/\.failed$/, '')),
    ' ',
    h(Badge, { tone: 'bad' }, 'could not be made'),
  ];
}

/**
 * Where more about a target is. Accounts have no action of their own: bans, usage and keys are
 * about subjects.
 */
function targetOf({ action, target }: Entry) {
  const [kind] = action.split('.');
  if (kind === 'plans') return planLink(target);
  if (kind === 'config')
    return h('a', { href: linkTo('configuration') }, target);
  const isSubject =
    (kind === 'keys' && target.startsWith('key_')) ||
    kind === 'bans' ||
    kind === 'usage';
  return isSubject ? h(ClientLink, { who: target }) : target;
}

/** The first changes as a line, and all of them, with the id of the request, where one opens it. */
function changesOf(entry: Entry) {
  const changes = whatChanged(entry);
  return h('details', { class: 'changes' }, [
    h('summary', null, changeText(entry)),
    changes.length > 0 && h(Facts, { facts: changes.map(factOf) }),
    h('p', null, 'Request ', h('code', null, entry.requestId)),
  ]);
}

function factOf({ name, before, after }: FieldChange) {
  const now = after === undefined ? 'gone' : h('ins', null, after);
  return [
    name,
    before === undefined ? now : [h('del', null, before), ' → ', now],
  ] as const;
}
