import { h } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Audit as AuditAnswer } from '../../admin-api.ts';
import { useAnswer } from '../api/use-answer.ts';
import { Choice } from '../parts/fields.ts';
import { Filters } from '../parts/filters.ts';
import { Pager } from '../parts/pager.ts';
import { SearchField } from '../parts/search-field.ts';
import { AnswerView, View } from '../parts/view.ts';
import { linkTo, type Place } from '../routing.ts';
import { goUnlessSecret } from '../secrets.ts';
import { Entries } from './audit/entries.ts';

const SINCE = [
  ['', 'Any time'],
  ['1', 'The last hour'],
  ['24', 'The last day'],
  ['168', 'The last week'],
] as const;

/** `storegate audit list`: who changed what, and when. */
export function Audit({ place: { query } }: { place: Place }) {
  const { actor = '', action = '', target = '', below = '' } = query;
  const [isLive, setLive] = useState(false);
  // Asked for once: a time that moves would be another question with each look.
  const since = useMemo(() => sinceHours(query.since), [query.since]);
  const answer = useAnswer('/audit', {
    query: { actor, action, target, since, below, limit: 50 },
    every: isLive ? 10_000 : undefined,
  });
  const go = (changed: Readonly<Record<string, string>>) =>
    goUnlessSecret('audit', '', { actor, action, target, since: query.since ?? '', ...changed });

  return h(
    View,
    {
      title: 'Audit',
      about: 'Changes by operators and by the gateway',
      actions: h('label', { class: 'check' }, [
        h('input', {
          type: 'checkbox',
          checked: isLive,
          onChange: (event: Event) => setLive((event.currentTarget as HTMLInputElement).checked),
        }),
        ' Refresh every 10 s',
      ]),
    },
    h(
      Filters,
      {
        label: 'Filter the audit log',
        verb: 'Filter',
        onSubmit: go,
        all: ['actor', 'action', 'target', 'since', 'below'].some((name) => query[name]) ? linkTo('audit') : undefined,
      },
      h(SearchField, { label: 'Operator', name: 'actor', value: actor, maxLength: 100 }),
      h(SearchField, { label: 'Action', name: 'action', value: action, maxLength: 40, placeholder: 'keys.rotate' }),
      h(SearchField, { label: 'Key, account, plan or token', name: 'target', value: target, maxLength: 100 }),
      h(Choice, { label: 'Since', options: SINCE, value: query.since ?? '', onChoice: (one) => go({ since: one }) }),
    ),
    h(AnswerView<AuditAnswer>, {
      answer,
      children: ({ entries }) => h(Entries, { entries }),
    }),
    h(Pager, {
      of: 'the audit log',
      at: below || null,
      next: answer.value?.next ? String(answer.value.next) : null,
      onGo: (at) => go({ below: at ?? '' }),
    }),
  );
}

function sinceHours(hours: string | undefined): string | undefined {
  const known = Number(hours);
  return known > 0 ? new Date(Date.now() - known * 3_600_000).toISOString() : undefined;
}
