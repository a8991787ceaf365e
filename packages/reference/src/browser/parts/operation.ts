import { h } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Api, Row } from '../model/api.ts';
import { examplesIn, givenIn, mediaText } from '../model/example.ts';
import { refusal } from '../model/limits.ts';
import {
  type Draft,
  isList,
  keyOf,
  type OutgoingRequest,
} from '../model/request.ts';
import { shortText } from '../model/schema.ts';
import type { MakeRequest } from '../session.ts';
import { Badges, Facts } from './facts.ts';
import { AcceptInput, BodyInput, Parameters } from './inputs.ts';
import { Markdown } from './markdown.ts';
import { ResponseView } from './response-view.ts';
import { Responses } from './responses.ts';
import { type ReceivedResponse, send } from './send.ts';
import { Folded, Title, useApi } from './shared.ts';
import { Snippets } from './snippets.ts';

interface OperationProps {
  readonly row: Row;
  readonly server: number;
  readonly request: MakeRequest;
}

/** A line with method, path and summary; the rest is drawn when it is opened. */
export function OperationView(props: OperationProps) {
  const { method, path, operation, hash } = props.row;
  const summary = [
    h('span', { class: `method ${method.toLowerCase()}` }, method),
    h('span', { class: 'names' }, [
      h('code', null, path),
      h(Badges, { operation }),
      h('span', { class: 'summary' }, operation.summary),
    ]),
  ];
  return h(Folded, {
    id: decodeURIComponent(hash.slice(1)),
    class: operation.deprecated ? 'operation deprecated' : 'operation',
    summary,
    onOpen: () => history.replaceState(null, '', hash),
    children: () => h(Details, props),
  });
}

function firstDraft(api: Api, row: Row): Draft {
  const needed = api.parameters(row).filter(({ required }) => required);
  const values = needed.map((parameter) => {
    const schema = api.schema(parameter.schema);
    const [named] = examplesIn(api, parameter.examples);
    const value = parameter.example ?? named?.value ?? givenIn(schema);
    const lines = Array.isArray(value) && isList(api, schema);
    const text = lines ? value.map(shortText).join('\n') : shortText(value);
    return [keyOf(parameter), text];
  });
  const [mediaType = null] = Object.keys(api.body(row)?.content ?? {});
  const draft = { values: Object.fromEntries(values), fields: {}, files: {} };
  const [accept = null] = api.accepted(row);
  return { ...draft, mediaType, text: bodyText(api, row, mediaType), accept };
}

function bodyText(api: Api, row: Row, mediaType: string | null): string {
  const media = api.body(row)?.content?.[mediaType ?? ''];
  return media === undefined
    ? ''
    : mediaText(api, media, mediaType!, 'request');
}

function Details({ row, server, request }: OperationProps) {
  const api = useApi();
  const { operation } = row;
  const [isOpen, setOpen] = useState(false);
  const [draft, setDraft] = useState(() => firstDraft(api, row));
  const { response, failure, isBusy, execute, refuse, clear } = useSending(row);
  const button = useRef<HTMLButtonElement>(null);
  const canBeTried = operation['x-try-it'] !== false;
  const body = api.body(row);

  function change(part: Partial<Draft>) {
    const text =
      part.mediaType === undefined
        ? {}
        : { text: bodyText(api, row, part.mediaType) };
    setDraft((draft) => ({ ...draft, ...part, ...text }));
  }
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const empty = [
      ...(event.currentTarget as HTMLFormElement).querySelectorAll<HTMLElement>(
        ':is(input, select, textarea):invalid',
      ),
    ];
    if (empty.length === 0)
      return void execute(() => request(row, draft, server, 'send'));
    const names = empty.map((field) => field.ariaLabel).join(', ');
    refuse(`Nothing was sent. Fill in: ${names}`);
    empty[0]!.focus();
  }
  const inputs = { draft, isOpen, onChange: change };
  const toggle = h(
    'button',
    {
      type: 'button',
      class: isOpen ? 'quiet' : 'try',
      onClick: () => setOpen(!isOpen),
    },
    isOpen ? 'Cancel' : 'Try it',
  );
  return h('div', { class: 'details' }, [
    h(Markdown, { text: operation.description }),
    h(Facts, { operation }),
    h('form', { onSubmit: submit, noValidate: true }, [
      h(Title, { text: 'Parameters' }, canBeTried && toggle),
      h(Parameters, { list: api.parameters(row), ...inputs }),
      body && h(BodyInput, { body, ...inputs }),
      isOpen && h(AcceptInput, { types: api.accepted(row), ...inputs }),
      isOpen &&
        h('p', { class: 'buttons' }, [
          h(
            'button',
            { ref: button, class: 'execute', 'aria-disabled': isBusy },
            'Execute',
          ),
          response &&
            h(
              'button',
              { type: 'button', onClick: () => clear(button.current) },
              'Clear',
            ),
        ]),
    ]),
    failure !== null && h('p', { class: 'failure', role: 'alert' }, failure),
    response && h(ResponseView, { response }),
    h(Snippets, { request: (use) => request(row, draft, server, use) }),
    h('h4', null, 'Responses'),
    h(Responses, { responses: operation.responses ?? {} }),
  ]);
}

/** One request at a time; its outcome is announced to screen readers. */
function useSending({ method, path }: Row) {
  const [response, setResponse] = useState<ReceivedResponse | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  async function execute(request: () => OutgoingRequest) {
    if (isBusy) return;
    setBusy(true);
    setResponse(null);
    setFailure(null);
    try {
      const response = await send(request());
      setResponse(response);
      announce(`${method} ${path}: ${outcome(response)}`);
    } catch (error) {
      const { message } = error as Error;
      setFailure(`No response: ${message}`);
      announce(`${method} ${path}: no response. ${message}`);
    }
    setBusy(false);
  }
  function refuse(reason: string) {
    setResponse(null);
    setFailure(reason);
    announce(`${method} ${path}: ${reason}`);
  }
  function clear(next: HTMLElement | null) {
    setResponse(null);
    next?.focus();
  }
  return { response, failure, isBusy, execute, refuse, clear };
}

/** Screen readers announce changes of existing regions only, so the page has an empty one. */
function announce(text: string): void {
  document.getElementById('announcement')?.replaceChildren(text);
}

function outcome({ status, headers }: ReceivedResponse): string {
  const fields = Object.fromEntries(headers);
  const remaining = fields['x-ratelimit-remaining'];
  const limits =
    refusal(status, fields) ??
    (remaining === undefined ? null : `${remaining} left`);
  return limits === null
    ? `response ${status}.`
    : `response ${status}. ${limits}.`;
}
