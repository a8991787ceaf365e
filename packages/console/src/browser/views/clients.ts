import { h } from 'preact';
import type { Key } from '../../admin-api.ts';
import { disableAct, enableAct, labelAct, limitsAct, newKeyAct, planAct, revokeAct, rotateAct } from '../acts/keys.ts';
import { useAnswer } from '../api/use-answer.ts';
import { number } from '../format.ts';
import { type Acts, useActs } from '../parts/act.ts';
import { ClientLink, isKeyId } from '../parts/client-link.ts';
import { Facts } from '../parts/facts.ts';
import { Filters, SearchField } from '../parts/fields.ts';
import { Time } from '../parts/time.ts';
import { answerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { goUnlessSecret } from '../secrets.ts';
import { useMay } from '../session.ts';
import { Activity, useSubject } from './clients/activity.ts';
import { Windows } from './clients/windows.ts';
import { List, StatusOf } from './keys.ts';

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
  return answerView(answer, ({ keys, next }) => {
    const part = find.toLowerCase();
    const accounts = [...new Set(keys.map(({ account }) => account))].filter((one) => one.toLowerCase().includes(part));
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
  });
}

/** All that is known of one key, and what can be done to it. */
function KeyPage({ name }: { name: string }) {
  const key = useAnswer(`/keys/${encodeURIComponent(name)}`, { every: 15_000 });
  const party = useSubject(name);
  const acts = useActs(() => {
    void key.refresh();
    party.refresh();
  });
  return h(View, { title: name, about: key.value && h(About, key.value), actions: h(Search, null) }, [
    answerView(key, (value) => [
      h(Windows, { name, party, acts }),
      h(Record, { value, acts }),
      h(Activity, { name, party }),
    ]),
    acts.dialog,
  ]);
}

function About(key: Key) {
  return [
    h(StatusOf, { status: key.status }),
    ' key of ',
    h(ClientLink, { who: key.account }),
    `, plan ${key.plan}`,
    // A label may turn the direction of what is written; what stands around it stays as it is.
    key.label !== null && [', “', h('bdi', null, key.label), '”'],
  ];
}

function Record({ value, acts }: { value: Key; acts: Acts }) {
  const { account, plan, label, limits, rotation, addresses, scopes, metadata } = value;
  const mayAct = useMay('operate');
  const time = (at: string | null) => at && h(Time, { at });
  return [
    h('h2', null, 'The key'),
    h(Facts, {
      facts: [
        ['Account', h(ClientLink, { who: account })],
        ['Plan', h('a', { href: linkTo('plans', plan) }, plan)],
        ['Label', label],
        ['Own limits', limits],
        [
          'Last used',
          value.lastUsed === null
            ? value.asOf
              ? 'not known'
              : 'never'
            : h(Time, { at: value.lastUsed, relative: true }),
        ],
        ['Created', [h(Time, { at: value.created }), value.imported && ', imported from another system']],
        ['Expires', value.expires === null ? 'never' : h(Time, { at: value.expires })],
        ['Disabled', time(value.disabled)],
        ['Revoked', time(value.revoked)],
        ['Rotated', rotation && [h(Time, { at: rotation.at }), overlapOf(rotation.overlapEnds)]],
        ['Addresses', addresses === null ? null : addresses.join(', ')],
        ['Scopes', scopes.length === 0 ? null : scopes.join(', ')],
        ...Object.entries(metadata).map(([name, text]) => [`Metadata ${name}`, text] as const),
      ],
    }),
    mayAct &&
      h('div', { class: 'acts', role: 'group', 'aria-label': 'Actions' }, [
        value.status !== 'revoked' && [
          acts.button(planAct(value)),
          acts.button(limitsAct(value)),
          acts.button(labelAct(value)),
          acts.button(rotateAct(value)),
          acts.button(value.disabled === null ? disableAct(value) : enableAct(value)),
          acts.button(revokeAct(value)),
        ],
        acts.button(newKeyAct({ account, plan })),
      ]),
  ];
}

function overlapOf(ends: string | null) {
  return ends !== null && ['; the previous secret works until ', h(Time, { at: ends })];
}

/** All that is known of one account with its keys, and what can be done to it. */
function AccountPage({ name }: { name: string }) {
  const account = useAnswer(`/accounts/${encodeURIComponent(name)}`);
  const keys = useAnswer('/keys', { query: { account: name, sort: '-created', limit: SHOWN } });
  const party = useSubject(name);
  const mayAct = useMay('operate');
  const acts = useActs(() => {
    void account.refresh();
    void keys.refresh();
    party.refresh();
  });
  return h(
    View,
    { title: name, about: 'Account', actions: h(Search, null) },
    answerView(account, (value) => [
      h(Facts, {
        facts: [
          ['Keys', `${number(value.keys)} (${number(value.active)} active)`],
          ['Plans', value.plans.join(', ') || 'none'],
          ['Own limits', value.limits],
        ],
      }),
      value.keys > 0 && h(Windows, { name, party, acts }),
      h('h2', null, 'Keys'),
      mayAct && h('div', { class: 'acts' }, acts.button(newKeyAct({ account: name }))),
      answerView(keys, ({ keys, next }) => [
        h(List, { of: name, keys, empty: 'No keys, only limits in the plans file.' }),
        next !== null &&
          h('p', null, h('a', { href: linkTo('keys', '', { account: name }) }, `All ${number(value.keys)} keys`)),
      ]),
      h(Activity, { name, party }),
    ]),
    acts.dialog,
  );
}

/** Leads to the key whose whole id is given, else to all that have it as a part. */
function Search({ find = '' }: { find?: string }) {
  function look({ find: text = '' }: Readonly<Record<string, string>>) {
    if (isKeyId(text)) goUnlessSecret('keys-and-accounts', text);
    else goUnlessSecret('keys-and-accounts', '', { find: text });
  }
  return h(Filters, { label: 'Find a key or an account', verb: 'Find', onSubmit: look }, [
    h(SearchField, { label: 'Key, account or label', name: 'find', value: find, required: true, maxLength: 200 }),
  ]);
}
