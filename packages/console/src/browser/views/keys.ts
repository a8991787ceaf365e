import type { KeyStatus, ParamsOf } from '@storegate/admin-api';
import { h } from 'preact';
import { newKeyAct } from '../acts/keys.ts';
import { useAnswer, useHoursAgo } from '../api/hooks.ts';
import { useActs } from '../parts/act.ts';
import { clientLinks, isKeyId } from '../parts/data.ts';
import { Choice, Filters, SearchField } from '../parts/fields.ts';
import { Pager } from '../parts/pager.ts';
import { answerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { goUnlessSecret } from '../secrets.ts';
import { useMay } from '../session.ts';
import { KeyList, STATUS_TONES } from './keys/list.ts';
import { AccountPage, KeyPage } from './keys/pages.ts';

/** All keys, or everything about one key or account, where its name is in the address. */
export function Keys({ place }: { place: Place }) {
  if (place.rest === '') return h(AllKeys, { place });
  return h(isKeyId(place.rest) ? KeyPage : AccountPage, { name: place.rest });
}

/** `storegate keys list`: all keys in pages, newest first, by what is asked for in the address. */
function AllKeys({ place: { query } }: { place: Place }) {
  const {
    find = '',
    account = '',
    plan = '',
    status = '',
    sort = '-created',
    after = '',
  } = query;
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
    goUnlessSecret('keys', '', {
      find,
      account,
      plan,
      status,
      sort,
      ...changes,
    });
  const filtered = find || account || plan || status;

  return h(
    View,
    {
      title: 'Keys',
      about: 'All keys, their owners and last use',
      actions: mayAct && acts.button(newKeyAct({})),
    },
    h(
      Filters,
      { label: 'Filter keys', onSubmit: show, all: filtered && linkTo('keys') },
      [
        h(SearchField, {
          label: 'Find',
          name: 'find',
          value: find,
          maxLength: 200,
          placeholder: 'id, account or label',
        }),
        h(SearchField, {
          label: 'Account',
          name: 'account',
          value: account,
          maxLength: 64,
        }),
        h(PlanFilter, { plan, onChoice: (one) => show({ plan: one }) }),
        h(Choice, {
          label: 'Status',
          value: status,
          options: [
            ['', 'all'],
            ...Object.keys(STATUS_TONES).map((word) => [word, word] as const),
          ],
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
      ],
    ),
    find !== '' &&
      h(AlsoFound, {
        find,
        accounts: answer.value?.keys.map((key) => key.account) ?? [],
      }),
    answerView(answer, ({ keys }) =>
      h(KeyList, { keys, empty: filtered ? 'No matching keys.' : 'No keys.' }),
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

function PlanFilter({
  plan,
  onChoice,
}: {
  plan: string;
  onChoice: (plan: string) => void;
}) {
  const answer = useAnswer('listPlans');
  const names = answer.value?.plans.map(({ name }) => name) ?? [];
  // A deleted plan may still have keys, and the address may name it.
  const all = [...new Set([...names, ...(plan && [plan])])];
  const options = [
    ['', 'all'],
    ...all.map((name) => [name, name] as const),
  ] as const;
  return h(Choice, { label: 'Plan', value: plan, options, onChoice });
}

/** Hours in which an operation must have been called to be found. */
const CALLED = '720';

/** Accounts of the keys, and operations, with the text in their name. */
function AlsoFound({
  find,
  accounts,
}: {
  find: string;
  accounts: readonly string[];
}) {
  const from = useHoursAgo(CALLED);
  const answer = useAnswer('getUsageReport', {
    params: { from, by: 'operation' },
  });
  const matching = (names: readonly (string | undefined)[]) =>
    [...new Set(names)].filter((name) =>
      name?.toLowerCase().includes(find.toLowerCase()),
    );
  const foundAccounts = matching(accounts) as string[];
  const called = answer.value?.rows.map(({ operation }) => operation) ?? [];
  const operations = matching(called.filter((name) => name !== 'none'));
  const link = (operation = '') =>
    h(
      'a',
      { key: operation, href: linkTo('usage', '', { operation }) },
      operation,
    );
  return [
    foundAccounts.length > 0 &&
      h('p', null, 'Accounts: ', clientLinks(foundAccounts)),
    operations.length > 0 &&
      h(
        'p',
        null,
        'Operations: ',
        operations.map((one, i) => [i > 0 && ', ', link(one)]),
      ),
  ];
}
