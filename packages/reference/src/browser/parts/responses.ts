import { h } from 'preact';
import type { Api } from '../model/api.ts';
import type { Parameter, Response } from '../model/document.ts';
import { examplesIn } from '../model/example.ts';
import { typeText } from '../model/schema.ts';
import { Markdown } from './markdown.ts';
import { ErrorCode } from './response-view.ts';
import { ContentView } from './schema.ts';
import { Folded, Table, useApi } from './shared.ts';

/** The responses that the document describes. Errors with codes show these in place of a body. */
export function Responses({
  responses,
}: {
  readonly responses: Readonly<Record<string, Response>>;
}) {
  const api = useApi();
  const rows = Object.entries(responses).map(([status, node]) => {
    const response = api.resolve(node);
    const { description, content = {}, headers = {} } = response;
    const codes = /^[45]/.test(status) ? codesOf(api, response) : null;
    const examples = codes?.flatMap((code) => [
      ' ',
      h(ErrorCode, { key: code, code }),
    ]);
    return h(
      'tr',
      {
        key: status,
        'data-status': status,
        class: codes === null ? undefined : 'refusal',
      },
      [
        h('th', { scope: 'row' }, status),
        h('td', null, [
          h(Markdown, { text: description }),
          examples === undefined
            ? h(ContentView, { content, direction: 'response' })
            : examples.length > 0 &&
              h('p', { class: 'codes' }, 'For example', examples),
          h(Headers, { headers }),
        ]),
      ],
    );
  });
  const look = {
    class: 'responses',
    label: 'Responses',
    titles: ['Code', 'Description'],
  };
  return h(Table, look, rows);
}

function Headers({
  headers,
}: {
  readonly headers: Readonly<Record<string, Parameter>>;
}) {
  const api = useApi();
  const all = Object.entries(headers);
  if (all.length === 0) return null;
  const line = ([name, node]: readonly [string, Parameter]) => {
    const { description, schema } = api.resolve(node);
    const type = h('span', { class: 'type' }, typeText(api, schema));
    return h(
      'li',
      { key: name },
      h('code', null, name),
      ' ',
      type,
      h(Markdown, { text: description }),
    );
  };
  const children = () => h('ul', null, all.map(line));
  return h(Folded, {
    class: 'folded',
    summary: `Headers (${all.length})`,
    children,
  });
}

/** The codes of {code, message, status}, with or without more fields; `null` for other bodies. */
function codesOf(api: Api, { content }: Response): readonly string[] | null {
  const { schema, example, examples } = content?.['application/json'] ?? {};
  const { properties = {} } = api.schema(schema);
  if (['code', 'message', 'status'].some((name) => !(name in properties)))
    return null;
  const values = [
    example,
    ...examplesIn(api, examples).map(({ value }) => value),
  ];
  const codes = values.map(
    (value) => (value as { readonly code?: unknown } | undefined)?.code,
  );
  return [...new Set(codes.filter((code) => typeof code === 'string'))];
}
