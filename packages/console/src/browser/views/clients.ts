import { h } from 'preact';
import type { Keys } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { isKeyId } from '../key-id.ts';
import { ClientLink } from '../parts/client-link.ts';
import { AnswerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { AccountPage } from './clients/account-page.ts';
import { KeyPage } from './clients/key-page.ts';
import { Search } from './clients/search.ts';
import { List } from './keys.ts';

const SHOWN = 50;

/** Everything about one caller: found by a part of an id, an account or a label. */
export function Clients({ place }: { place: Place }) {
  const { rest, query } = place;
  if (rest !== '') return h(isKeyId(rest) ? KeyPage : AccountPage, { name: rest });
  return h(View, { title: 'Keys and accounts', about: 'Find a key or an account: its limits, bans and refusals' }, [
    h(Search, { find: query.find ?? '' }),
    query.find ? h(Found, { find: query.find }) : h('p', { class: 'empty' }, 'Enter part of an id, account or label.'),
  ]);
}

function Found({ find }: { find: string }) {
  const answer = useAnswer('/keys', { query: { find, sort: '-created', limit: SHOWN } });
  return h(AnswerView<Keys>, {
    answer,
    children: ({ keys, next }) => {
      const part = find.toLowerCase();
      const accounts = [...new Set(keys.map(({ account }) => account))].filter((one) =>
        one.toLowerCase().includes(part),
      );
      return [
        accounts.length > 0 &&
          h('p', null, [
            accounts.length === 1 ? 'Account: ' : 'Accounts: ',
            accounts.map((one, i) => [i > 0 && ', ', h(ClientLink, { key: one, who: one })]),
          ]),
        h(List, { keys, empty: `No key has “${find}” in its id, account or label.` }),
        next !== null &&
          h('p', null, `The newest ${SHOWN} are shown. `, h('a', { href: linkTo('keys', '', { find }) }, 'Show all')),
      ];
    },
  });
}
