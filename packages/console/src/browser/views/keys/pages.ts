import type { Key } from '@storegate/admin-api';
import { limitsText, number } from '@storegate/admin-api/text';
import { h } from 'preact';
import { keyActions, newKeyAction } from '../../actions/keys.ts';
import { useQuery } from '../../api/hooks.ts';
import { type Actions, useActions } from '../../parts/action.ts';
import { ClientLink, Facts, planLink, Time } from '../../parts/data.ts';
import { queryView, View } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';
import { useMay } from '../../session.ts';
import { Activity, useSubject } from './activity.ts';
import { KeyList, StatusOf } from './list.ts';
import { Traffic } from './traffic.ts';
import { Windows } from './windows.ts';

/** Keys of an account that are listed on its page. */
const SHOWN = 50;

/** All that is known of one key, and what can be done to it. */
export function KeyPage({ name }: { name: string }) {
  const key = useQuery('getKey', { params: { id: name }, every: 15_000 });
  const subject = useSubject(name);
  const actions = useActions(key, ...Object.values(subject));
  return h(View, { title: name, about: key.value && aboutKey(key.value) }, [
    queryView(key, (value) => [
      h(Windows, { name, subject, actions }),
      h(Traffic, { name }),
      h(Record, { value, actions }),
      h(Activity, { name, subject }),
    ]),
    actions.dialog,
  ]);
}

function aboutKey({ status, account, plan, label }: Key) {
  // A label may turn the direction of what is written; what stands around it stays as it is.
  const named = label !== null && [', “', h('bdi', null, label), '”'];
  return [
    h(StatusOf, { status }),
    ' key of ',
    h(ClientLink, { who: account }),
    `, plan ${plan}`,
    named,
  ];
}

function Record({ value, actions }: { value: Key; actions: Actions }) {
  const {
    account,
    plan,
    label,
    limits,
    rotation,
    addresses,
    scopes,
    apis,
    metadata,
  } = value;
  const mayOperate = useMay('operate');
  const time = (at: string | null) => at && h(Time, { at });
  const ends = rotation?.overlapEnds ?? null;
  return [
    h('h2', null, 'The key'),
    h(Facts, {
      facts: [
        ['Account', h(ClientLink, { who: account })],
        ['Plan', planLink(plan)],
        ['Label', label],
        ['Own limits', limits && limitsText(limits)],
        [
          'Last used',
          value.lastUsed
            ? h(Time, { at: value.lastUsed, relative: true })
            : value.asOf
              ? 'not known'
              : 'never',
        ],
        [
          'Created',
          [
            time(value.created),
            value.imported && ', imported from another system',
          ],
        ],
        ['Expires', time(value.expires) ?? 'never'],
        ['Disabled', time(value.disabled)],
        ['Revoked', time(value.revoked)],
        [
          'Rotated',
          rotation && [
            time(rotation.at),
            ends !== null && ['; the previous secret works until ', time(ends)],
          ],
        ],
        ['Addresses', addresses === null ? null : addresses.join(', ')],
        ['Scopes', scopes.join(', ') || null],
        ['APIs', apis?.join(', ') ?? null],
        ...Object.entries(metadata).map(
          ([name, text]) => [`Metadata ${name}`, text] as const,
        ),
      ],
    }),
    mayOperate &&
      h('div', { class: 'actions', role: 'group', 'aria-label': 'Actions' }, [
        value.status !== 'revoked' && keyActions(value).map(actions.button),
        actions.button(newKeyAction({ account, plan })),
      ]),
  ];
}

/** All that is known of one account with its keys, and what can be done to it. */
export function AccountPage({ name }: { name: string }) {
  const account = useQuery('getAccount', { params: { account: name } });
  const keys = useQuery('listKeys', {
    params: { account: name, sort: '-created', limit: SHOWN },
  });
  const subject = useSubject(name);
  const mayOperate = useMay('operate');
  const actions = useActions(account, keys, ...Object.values(subject));
  return h(
    View,
    { title: name, about: 'Account' },
    queryView(account, (value) => [
      h(Facts, {
        facts: [
          ['Keys', `${number(value.keys)} (${number(value.active)} active)`],
          ['Plans', value.plans.join(', ') || 'none'],
          ['Own limits', value.limits && limitsText(value.limits)],
        ],
      }),
      h(Traffic, { name }),
      value.keys > 0 && h(Windows, { name, subject, actions }),
      h('h2', null, 'Keys'),
      mayOperate &&
        h(
          'div',
          { class: 'actions' },
          actions.button(newKeyAction({ account: name })),
        ),
      queryView(keys, ({ keys, next }) => [
        h(KeyList, {
          of: name,
          keys,
          empty: 'No keys, only limits in the plans file.',
        }),
        next !== null &&
          h(
            'p',
            null,
            h(
              'a',
              { href: linkTo('keys', '', { account: name }) },
              `All ${number(value.keys)} keys`,
            ),
          ),
      ]),
      h(Activity, { name, subject }),
    ]),
    actions.dialog,
  );
}
