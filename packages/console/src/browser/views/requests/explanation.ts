import type {
  ExplainedRequest as Explained,
  ExplainedWindow,
  Faults,
} from '@storegate/admin-api';
import {
  backendText,
  bodyText,
  type ExplainedStep,
  faultsText,
  identicalText,
  plural,
  processName,
  requestText,
  resetInWords,
  responseText,
  stepsOf,
} from '@storegate/admin-api/text';
import { h } from 'preact';
import { useQuery } from '../../api/hooks.ts';
import { clockTime, milliseconds } from '../../format.ts';
import {
  Badge,
  ClientLink,
  countColumn,
  Facts,
  planLink,
  rowHeader,
  Table,
  Texts,
  Time,
  textColumn,
} from '../../parts/data.ts';
import { Notice, queryView, View } from '../../parts/view.ts';
import { linkTo } from '../../routing.ts';

/** `storegate explain`: what was decided about one request at each step, and why. */
export function ExplainedRequest({ id }: { id: string }) {
  const query = useQuery('explainRequest', { params: { id } });
  return h(
    View,
    {
      title: 'Request',
      about: [h('code', null, id), ': steps and limits'],
      actions: h('a', { href: linkTo('requests') }, 'All refusals'),
    },
    queryView(query, (request) =>
      h(RequestDetails, { request, requested: id }),
    ),
  );
}

function RequestDetails({
  request,
  requested: sent,
}: {
  request: Explained;
  requested: string;
}) {
  return [
    sent.toLowerCase() !== request.id && h('p', null, identicalText(sent)),
    h(Outcome, { request }),
    h('h2', null, 'Steps'),
    h(
      'ol',
      { class: 'steps' },
      stepsOf(request, clockTime).map((step) =>
        h(Step, { key: step.name, step }),
      ),
    ),
    request.windows.length > 0 && h(Windows, { request }),
    ...request.faults.map((faults, i) =>
      h(FaultList, { key: `faults ${i}`, faults }),
    ),
    h('h2', null, 'Details'),
    h(WhatElse, { request }),
  ];
}

function Outcome({ request }: { request: Explained }) {
  const { status, code, message, step, times, repeated: more, key } = request;
  const tone =
    status >= 500
      ? 'bad'
      : code !== null || step !== null || status === 499
        ? 'warn'
        : 'good';
  return h(Notice, { tone: tone === 'bad' ? 'warn' : tone }, [
    h('p', null, [
      h(Badge, { tone }, responseText(request)),
      code !== null && [' ', h('code', null, code)],
      ` to ${requestText(request)}, after ${milliseconds(times.total)}`,
    ]),
    message !== null && h('p', null, h('q', null, message)),
    key !== null &&
      h(
        'p',
        null,
        'Sent with ',
        h(ClientLink, { who: key.id }),
        ' of ',
        h(ClientLink, { who: key.account }),
        '.',
      ),
    more > 0 &&
      h(
        'p',
        null,
        `${plural(more, 'identical refusal')} before it ${more === 1 ? 'was' : 'were'} not kept.`,
      ),
  ]);
}

const TONES = {
  passed: 'good',
  refused: 'warn',
  failed: 'bad',
  'not reached': 'plain',
} as const;

function Step({ step: { name, became, text } }: { step: ExplainedStep }) {
  return h('li', { class: became === 'not reached' ? 'soft' : undefined }, [
    h('span', { class: 'step' }, name),
    h(Badge, { tone: TONES[became] }, became),
    h('span', { class: 'text' }, text),
  ]);
}

function Windows({ request }: { request: Explained }) {
  return [
    h('h2', null, 'Remaining quota'),
    h(Table<ExplainedWindow>, {
      caption: 'Windows that counted the request',
      rows: request.windows,
      keyOf: ({ name }) => name,
      toneOf: ({ before }) => (before === 0 ? 'warn' : undefined),
      columns: [
        rowHeader(textColumn('Window', 'name')),
        textColumn('Kind', 'kind'),
        countColumn('Limit', 'limit'),
        countColumn('Before', 'before'),
        countColumn('After', 'after'),
        ['Resets', (window) => resetInWords(request, window, clockTime)],
      ],
    }),
  ];
}

function FaultList({ faults }: { faults: Faults }) {
  const { head, lines } = faultsText(faults);
  return [h('h2', null, head), h(Texts, { class: 'faults', texts: lines })];
}

function backendFact(backend: NonNullable<Explained['backend']>): string {
  const { attempts, head } = backend;
  if (attempts === 0) return 'none was asked';
  const query =
    head === null
      ? 'no response arrived'
      : `the response began after ${milliseconds(head)}`;
  const which = backendText(backend);
  return `${which === '' ? '' : `${which}, `}asked ${attempts === 1 ? 'once' : `${attempts} times`}, ${query}`;
}

function WhatElse({ request }: { request: Explained }) {
  const { at, address, key, body, traceparent, backend } = request;
  return h(Facts, {
    facts: [
      ['Began', h(Time, { at })],
      ['Handled by', processName(request)],
      ['From', address],
      ['Key', key && h(ClientLink, { who: key.id })],
      ['Account', key && h(ClientLink, { who: key.account })],
      ['Plan', key && planLink(key.plan)],
      ['Counted for', key?.subject ?? null],
      ['Body', bodyText(body)],
      ['Backend', backend && backendFact(backend)],
      ['traceparent', traceparent],
    ],
  });
}
