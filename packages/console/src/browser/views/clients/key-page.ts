import { h } from 'preact';
import type { Key } from '../../../admin-api.ts';
import { disableAct, enableAct, labelAct, limitsAct, planAct, revokeAct, rotateAct } from '../../acts/keys.ts';
import { newKeyAct } from '../../acts/new-key.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { ClientLink } from '../../parts/client-link.ts';
import { Facts } from '../../parts/facts.ts';
import { Time } from '../../parts/time.ts';
import { type Acts, useActs } from '../../parts/use-acts.ts';
import { AnswerView, View } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';
import { useMay } from '../../session.ts';
import { StatusOf } from '../keys.ts';
import { Activity } from './activity.ts';
import { Search } from './search.ts';
import { useSubject } from './use-subject.ts';
import { Windows } from './windows.ts';

/** All that is known of one key, and what can be done to it. */
export function KeyPage({ name }: { name: string }) {
  const key = useAnswer(`/keys/${encodeURIComponent(name)}`, { every: 15_000 });
  const party = useSubject(name);
  const acts = useActs();
  const refresh = () => {
    void key.refresh();
    party.refresh();
  };
  return h(View, { title: name, about: key.value && h(About, key.value), actions: h(Search, null) }, [
    h(AnswerView<Key>, {
      answer: key,
      children: (value) => [
        h(Windows, { name, party, acts }),
        h(Record, { value, acts, refresh }),
        h(Activity, { name, party }),
      ],
    }),
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

function Record({ value, acts, refresh }: { value: Key; acts: Acts; refresh: () => void }) {
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
          acts.button(planAct(value, refresh)),
          acts.button(limitsAct(value, refresh)),
          acts.button(labelAct(value, refresh)),
          acts.button(rotateAct(value, refresh)),
          acts.button(value.disabled === null ? disableAct(value, refresh) : enableAct(value, refresh)),
          acts.button(revokeAct(value, refresh)),
        ],
        acts.button(newKeyAct({ account, plan }, refresh)),
      ]),
  ];
}

function overlapOf(ends: string | null) {
  return ends !== null && ['; the previous secret works until ', h(Time, { at: ends })];
}
