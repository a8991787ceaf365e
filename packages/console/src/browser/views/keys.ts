import type { Key, KeyStatus, ParamsOf } from '@storegate/admin-api';
import { h } from 'preact';
import { newKeyAct } from '../acts/keys.ts';
import { useAnswer } from '../api/hooks.ts';
import { useActs } from '../parts/act.ts';
import { Badge, ClientLink, Table, Time, type Tone } from '../parts/data.ts';
import { Choice, Filters, SearchField } from '../parts/fields.ts';
import { Pager } from '../parts/pager.ts';
import { answerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { goUnlessSecret } from '../secrets.ts';
import { useMay } from '../session.ts';

const TONES: Readonly<Record<KeyStatus, Tone>> = {
  active: 'good',
  disabled: 'warn',
  expired: 'warn',
  revoked: 'bad',
};

export function StatusOf({ status }: Pick<Key, 'status'>) {
  return h(Badge, { tone: TONES[status] }, status);
}

/** `storegate keys list`: all keys in pages, newest first, by what is asked for in the address. */
export function Keys({ place: { query } }: { place: Place }) {
  const { find = '', account = '', plan = '', status = '', sort = '-created', after = '' } = query;
  const answer = useAnswer('listKeys', {
    params: {
      find,
      account,
      plan,
      // The API checks what is in the address.
      status: status as KeyStatus,
      sort: sort as ParamsOf<'listKeys'>['sort'],
      after,
      limit: 50,
    },
  });
  const mayAct = useMay('operate');
  const acts = useActs(answer);
  const show = (changes: Readonly<Record<string, string>>) =>
    goUnlessSecret('keys', '', { find, account, plan, status, sort, ...changes });
  const filtered = find || account || plan || status;

  return h(
    View,
    {
      title: 'Keys',
      about: 'All keys, their owners and last use',
      actions: mayAct && acts.button(newKeyAct({})),
    },
    h(Filters, { label: 'Filter keys', onSubmit: show, all: filtered && linkTo('keys') }, [
      h(SearchField, {
        label: 'Find',
        name: 'find',
        value: find,
        maxLength: 200,
        placeholder: 'id, account or label',
      }),
      h(SearchField, { label: 'Account', name: 'account', value: account, maxLength: 64 }),
      h(SearchField, { label: 'Plan', name: 'plan', value: plan, maxLength: 64 }),
      h(Choice, {
        label: 'Status',
        value: status,
        options: [['', 'all'], ...Object.keys(TONES).map((word) => [word, word] as const)],
        onChoice: (one) => show({ status: one }),
      }),
      h(Choice, {
        label: 'Order',
        value: sort,
        options: [
          ['-created', 'newest first'],
          ['created', 'oldest first'],
        ],
        onChoice: (one) => show({ sort: one }),
      }),
    ]),
    answerView(answer, ({ keys }) =>
      h(List, { keys, empty: filtered ? 'No matching keys.' : 'No keys.' }),
    ),
    h(Pager, {
      of: 'keys',
      at: after,
      next: answer.value?.next,
      onGo: (at) => show({ after: at }),
    }),
    acts.dialog,
  );
}

/**
 * Keys in a table, each leading to all that is known of it. `of`: the account that all are of,
 * where that need not be said.
 */
export function List({ keys, empty, of }: { keys: readonly Key[]; empty: string; of?: string }) {
  return h(Table<Key>, {
    caption: 'Keys',
    rows: keys,
    keyOf: ({ id }) => id,
    empty,
    columns: [
      { title: 'Key', names: true, cell: ({ id }) => h(ClientLink, { who: id }) },
      of === undefined && {
        title: 'Account',
        cell: ({ account }) => h(ClientLink, { who: account }),
      },
      { title: 'Label', cell: ({ label }) => h('span', { class: 'label' }, label ?? '–') },
      {
        title: 'Plan',
        cell: ({ plan, limits }) => (limits === null ? plan : `${plan}, own ${limits}`),
      },
      { title: 'Status', cell: ({ status }) => h(StatusOf, { status }) },
      { title: 'Created', cell: ({ created }) => h(Time, { at: created }) },
      { title: 'Expires', cell: ({ expires }) => h(Time, { at: expires }) },
      { title: 'Last used', cell: ({ lastUsed }) => h(Time, { at: lastUsed, relative: true }) },
    ],
  });
}
