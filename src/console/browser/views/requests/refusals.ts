import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { LiveRefused, RefusedRequest, Requests } from '../../api/answers/requests.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { useStream } from '../../api/use-stream.ts';
import { Field } from '../../parts/fields.ts';
import { LiveSwitch } from '../../parts/live.ts';
import { Badge, Missing } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';
import { Answered, View } from '../../parts/view.ts';
import { WhoLink } from '../../parts/who-link.ts';
import { goTo, linkTo, type Place } from '../../routing.ts';
import { number, plural } from '../../words.ts';
import { FindRequest } from './find.ts';
import { NO_TAIL, type Tail, withRefused } from './tail.ts';

/** `storegate requests`, live: refusals and failures as they come, of all or of a key, an account or a code. */
export function Refusals({ place }: { place: Place }) {
  const { key = '', account = '', code = '' } = place.query;
  const filter = { key, account, code };
  const [tail, setTail] = useState<Tail>(NO_TAIL);
  const [paused, setPaused] = useState(false);
  const answer = useAnswer<Requests>('/requests', { query: filter });
  const stream = useStream(paused ? null : '/live', { event: 'refused', ...filter }, (_name, data) =>
    setTail((before) => withRefused(before, data as LiveRefused)),
  );
  useEffect(() => setTail(NO_TAIL), [key, account, code]);
  // What came while nobody listened is asked for.
  useEffect(() => void (stream.status === 'live' && answer.refresh()), [stream.status]);
  return h(
    View,
    {
      title: 'Requests',
      about: 'What is refused, or fails, and why?',
      actions: h(LiveSwitch, { state: stream, paused, onPause: setPaused }),
    },
    h(FindRequest, null),
    h(Filter, { key: JSON.stringify(filter), filter }),
    h(Answered<Requests>, {
      answer,
      children: (asked) => [
        h(Missing, { key: 'missing', ...asked }),
        h(List, {
          key: 'list',
          tail: withRefused(tail, { requests: asked.requests, left: 0 }),
          filtered: key !== '' || account !== '' || code !== '',
        }),
      ],
    }),
  );
}

interface FilterProps {
  readonly filter: Readonly<Record<'key' | 'account' | 'code', string>>;
}

function Filter({ filter }: FilterProps) {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const given = Object.fromEntries(['key', 'account', 'code'].map((name) => [name, String(form.get(name)).trim()]));
    goTo(linkTo('requests', '', given));
  }
  const field = (name: keyof typeof filter, label: string, placeholder: string) =>
    h(Field, { key: name, label, name, defaultValue: filter[name], placeholder, maxLength: 100, spellcheck: false });
  return h(
    'form',
    { class: 'actions filter', onSubmit: submit, role: 'search', 'aria-label': 'Filter' },
    field('key', 'Key', 'key_…'),
    field('account', 'Account', 'acme'),
    field('code', 'Code', 'rate_limit_exceeded'),
    h('button', { type: 'submit' }, 'Filter'),
    Object.values(filter).some((value) => value !== '') && h('a', { href: linkTo('requests') }, 'Show all'),
  );
}

function List({ tail: { requests, left }, filtered }: { tail: Tail; filtered: boolean }) {
  return [
    left > 0 &&
      h(
        'p',
        { key: 'left', class: 'about' },
        `${plural(left, 'more request')} came at the same time and ${left === 1 ? 'is' : 'are'} not listed${filtered ? '' : ': a filter shows those of one key, account or code'}.`,
      ),
    h(Table<RefusedRequest>, {
      key: 'table',
      caption: 'Refusals and failures, newest first',
      rows: requests,
      keyOf: ({ id }) => id,
      empty: filtered
        ? 'Gateways have none of these in memory. New ones appear here as they come.'
        : 'Gateways have none in memory: nothing was refused, or explain.requests is 0. New ones appear here as they come.',
      toneOf: ({ status }) => (status >= 500 ? 'bad' : undefined),
      columns: [
        { title: 'At', names: true, cell: ({ id, at }) => h('a', { href: linkTo('requests', id) }, h(Time, { at })) },
        { title: 'Code', cell: codeOf },
        { title: 'Operation', cell: ({ method, operation }) => `${method} ${operation}` },
        { title: 'Key', cell: ({ key }) => h(WhoLink, { who: key?.id ?? null }) },
        {
          title: 'Account',
          cell: ({ key }) => h(WhoLink, { who: key?.account ?? null }),
        },
        { title: 'Address', cell: ({ address }) => address },
        { title: 'Like it', figure: true, cell: ({ more }) => (more === 0 ? '' : `${number(more)} before it`) },
      ],
    }),
  ];
}

function codeOf({ status, code }: RefusedRequest) {
  return [h(Badge, { key: 'status', tone: status >= 500 ? 'bad' : 'plain' }, status), ' ', code ?? 'of the store'];
}
