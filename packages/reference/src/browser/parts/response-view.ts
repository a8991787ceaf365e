import { h } from 'preact';
import { indentJson, isJson } from '../model/json-text.ts';
import { headerWindows, refusal, windowText } from '../model/limits.ts';
import type { ReceivedResponse } from './send.ts';
import { Code } from './shared.ts';

/** A response: limits first, then status, body and headers. */
export function ResponseView({
  response,
}: {
  readonly response: ReceivedResponse;
}) {
  const { status, headers, content, text, milliseconds } = response;
  const lines = headers.map(([name, value]) => `${name}: ${value}`).join('\n');
  const isJson = /json/i.test(content.type);
  const code = isJson && text !== null ? codeOf(text) : null;
  const download = h(
    'button',
    { type: 'button', onClick: () => save(response) },
    'Download',
  );
  return h('section', { class: 'answer', 'aria-label': 'Response' }, [
    h(Limits, { response }),
    h(
      'h4',
      null,
      `Response ${status} `,
      h('small', null, `in ${milliseconds} ms`),
    ),
    code !== null &&
      h('p', { class: 'codes' }, 'What to do: ', h(ErrorCode, { code })),
    text === null
      ? h(
          'p',
          null,
          `${content.size.toLocaleString('en')} bytes of ${content.type} `,
          download,
        )
      : h(Code, {
          text: isJson ? indentJson(text) : text,
          label: 'Response body',
          isJson,
          children: download,
        }),
    h('h4', null, 'Response headers'),
    h(
      'pre',
      {
        class: 'headers',
        tabIndex: 0,
        role: 'region',
        'aria-label': 'Response headers',
      },
      lines,
    ),
  ]);
}

/** Links a code of the gateway to its advice; the operation explains the codes of the service. */
export function ErrorCode({ code }: { readonly code: string }) {
  const id = `errors-${code}`;
  const text = h('code', null, code);
  return document.getElementById(id) ? h('a', { href: `#${id}` }, text) : text;
}

function codeOf(text: string): string | null {
  const { code } = Object(isJson(text) && JSON.parse(text)) as {
    readonly code?: unknown;
  };
  return typeof code === 'string' ? code : null;
}

function save({ content }: ReceivedResponse): void {
  const href = URL.createObjectURL(content);
  const type = content.type.replace(/^.*[/+]|;.*$/g, '');
  Object.assign(document.createElement('a'), {
    href,
    download: `response.${type || 'txt'}`,
  }).click();
  // The click has started the download.
  URL.revokeObjectURL(href);
}

function Limits({
  response: { status, headers },
}: {
  readonly response: ReceivedResponse;
}) {
  const fields = Object.fromEntries(headers);
  if (fields['x-ratelimit-limit'] === undefined) return null;
  const refused = refusal(status, fields);
  const tile = (name: string, note: string) => {
    const value = fields[name.toLowerCase()];
    if (value === undefined) return null;
    return h('div', { key: name }, [
      h('dt', null, name),
      h('dd', null, h('b', null, value), ' ', h('small', null, note)),
    ]);
  };
  return h(
    'div',
    { class: refused === null ? 'limit-state' : 'limit-state refused' },
    [
      h('h4', null, refused ?? 'Your limits'),
      h('dl', null, [
        tile('X-RateLimit-Limit', 'in force'),
        tile('X-RateLimit-Remaining', 'left'),
        tile(
          'X-RateLimit-Reset',
          `at ${clock(Number(fields['x-ratelimit-reset']))}`,
        ),
        tile('Retry-After', 'seconds to wait'),
      ]),
      h('p', null, headerWindows(fields).map(windowText).join(' · ')),
    ],
  );
}

/** Unix seconds in local time. */
const clock = (seconds: number): string =>
  new Date(seconds * 1000).toLocaleTimeString('en-GB');
