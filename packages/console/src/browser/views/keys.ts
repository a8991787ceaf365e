import type { KeyStatus, ParamsOf } from '@storegate/admin-api';
import { operationText } from '@storegate/admin-api/text';
import { h } from 'preact';
import { useState } from 'preact/hooks';
import { newKeyAction } from '../actions/keys.ts';
import { calledSince, matching } from '../api/find.ts';
import { useQuery } from '../api/hooks.ts';
import { useActions } from '../parts/action.ts';
import { clientLinks, isKeyId } from '../parts/data.ts';
import { Filters } from '../parts/fields.ts';
import { filtersOf } from '../parts/filters.ts';
import { queryView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
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
  const reading = useQuery('listKeys', {
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
  const mayOperate = useMay('operate');
  const actions = useActions(reading);
  const filters = filtersOf('keys', { find, account, plan, status, sort });
  const filtered = find || account || plan || status;

  return h(
    View,
    {
      title: 'Keys',
      about: 'All keys, their owners and last use',
      actions: mayOperate && actions.button(newKeyAction({})),
    },
    h(
      Filters,
      {
        label: 'Filter keys',
        onChange: filters.onChange,
        all: filtered && linkTo('keys'),
      },
      [
        filters.search('find', 'Find', 200, 'id, account or label'),
        filters.search('account', 'Account', 64),
        filters.choice('plan', 'Plan', usePlans(plan)),
        filters.choice('status', 'Status', STATUSES),
        filters.choice('sort', 'Order', ORDERS),
      ],
    ),
    find !== '' &&
      h(AlsoFound, {
        find,
        accounts: reading.value?.keys.map((key) => key.account) ?? [],
      }),
    queryView(reading, ({ keys }) =>
      h(KeyList, { keys, empty: filtered ? 'No matching keys.' : 'No keys.' }),
    ),
    filters.pager('after', {
      of: 'keys',
      at: after,
      next: reading.value?.next,
    }),
    actions.dialog,
  );
}

const STATUSES = [
  ['', 'all'],
  ...Object.keys(STATUS_TONES).map((status) => [status, status] as const),
] as const;
const ORDERS = [
  ['-created', 'newest first'],
  ['created', 'oldest first'],
] as const;

/** A deleted plan may still have keys, and the address may name it. */
function usePlans(chosen: string) {
  const query = useQuery('listPlans');
  const names = query.value?.plans.map(({ name }) => name) ?? [];
  const all = [...new Set([...names, ...(chosen && [chosen])])];
  return [['', 'all'], ...all.map((name) => [name, name] as const)] as const;
}

/** Accounts of the keys, and operations, with the text in their name. */
function AlsoFound({
  find,
  accounts,
}: {
  find: string;
  accounts: readonly string[];
}) {
  const [from] = useState(calledSince);
  const query = useQuery('getUsageReport', {
    params: { from, by: 'operation', partial: true },
  });
  const foundAccounts = matching(accounts, find);
  const called = query.value?.rows.map(({ operation }) => operation) ?? [];
  const operations = matching(called, find).filter(
    (name) => operationText(name) === name,
  );
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
