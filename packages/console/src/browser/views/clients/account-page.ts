import { h } from 'preact';
import type { Account, Keys } from '../../../admin-api.ts';
import { newKeyAct } from '../../acts/new-key.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { number } from '../../format.ts';
import { Facts } from '../../parts/facts.ts';
import { useActs } from '../../parts/use-acts.ts';
import { AnswerView, View } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';
import { useMay } from '../../session.ts';
import { List } from '../keys.ts';
import { Activity } from './activity.ts';
import { Search } from './search.ts';
import { useSubject } from './use-subject.ts';
import { Windows } from './windows.ts';

const SHOWN = 50;

/** All that is known of one account with its keys, and what can be done to it. */
export function AccountPage({ name }: { name: string }) {
  const account = useAnswer(`/accounts/${encodeURIComponent(name)}`);
  const keys = useAnswer('/keys', { query: { account: name, sort: '-created', limit: SHOWN } });
  const party = useSubject(name);
  const acts = useActs();
  const mayAct = useMay('operate');
  const refresh = () => {
    void account.refresh();
    void keys.refresh();
    party.refresh();
  };
  return h(
    View,
    {
      title: name,
      about: 'Account',
      actions: h(Search, null),
    },
    h(AnswerView<Account>, {
      answer: account,
      children: (value) => [
        h(Facts, {
          facts: [
            ['Keys', `${number(value.keys)} (${number(value.active)} active)`],
            ['Plans', value.plans.join(', ') || 'none'],
            ['Own limits', value.limits],
          ],
        }),
        value.keys > 0 && h(Windows, { name, party, acts }),
        h('h2', null, 'Keys'),
        mayAct && h('div', { class: 'acts' }, acts.button(newKeyAct({ account: name }, refresh))),
        h(AnswerView<Keys>, {
          answer: keys,
          children: ({ keys, next }) => [
            h(List, { of: name, keys, empty: 'No keys, only limits in the plans file.' }),
            next !== null &&
              h('p', null, h('a', { href: linkTo('keys', '', { account: name }) }, `All ${number(value.keys)} keys`)),
          ],
        }),
        h(Activity, { name, party }),
      ],
    }),
    acts.dialog,
  );
}
