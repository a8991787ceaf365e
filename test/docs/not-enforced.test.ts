import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { done, head } from '../../packages/openapi/test/documents.ts';
import { loadContract } from '../../src/config/contract/contract.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/validation.md'), 'utf8');
const [, section] = /\n## What is not enforced\n(.*?)\n## /s.exec(page)!;
const ROWS = new Map(
  section!
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| in the contract'))
    .map((line) => line.slice(2, -2).split(' | ') as [what: string, note: string]),
);

/** `…` stands for any text. */
const patternOf = (note: string) =>
  new RegExp(
    `^${note
      .replace(/^`+|`+$/g, '')
      .split('…')
      .map(RegExp.escape)
      .join('.+')}$`,
  );

const get = { operationId: 'a', responses: done };
const parameter = (more: object) => ({
  get: { ...get, parameters: [{ name: 'p', in: 'query', ...more }] },
});
const body = (content: object, more: object = {}) => ({
  post: { ...get, requestBody: { content }, ...more },
});
const json = (schema: object) => body({ 'application/json': { schema } });
const form = (encoding: object) =>
  body({
    'multipart/form-data': {
      schema: { type: 'object', properties: { a: { type: 'string' } } },
      encoding,
    },
  });
const scheme = (one: object, scopes: string[] = []) => ({
  paths: { '/': { get: { ...get, security: [{ s: scopes }] } } },
  components: { securitySchemes: { s: one } },
});
const at = (item: object, openapi = '3.0.3') => ({ openapi, paths: { '/': item } });
const nested = (levels: number): object =>
  levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };

const DOCUMENTS: Readonly<Record<string, readonly object[]>> = {
  'scopes in `security`': [scheme({ type: 'http', scheme: 'bearer' }, ['a'])],
  'keys in query or cookie': ['query', 'cookie'].map((where) =>
    scheme({ type: 'apiKey', in: where, name: 'k' }),
  ),
  'OAuth, OpenID Connect': [scheme({ type: 'oauth2' }), scheme({ type: 'openIdConnect' })],
  '`basic` and other schemes of HTTP': ['basic', 'digest'].map((one) =>
    scheme({ type: 'http', scheme: one }),
  ),
  '`mutualTLS`': [scheme({ type: 'mutualTLS' })],
  'headers of HTTP as keys': [scheme({ type: 'apiKey', in: 'header', name: 'Host' })],
  'misspelt extensions': [at({ get: { ...get, 'x-rate-limit': '5/minute' } })],
  'misplaced extensions': [at({ get, 'x-report-only': true })],
  '`servers` of paths, operations': [
    at({ get, servers: [] }),
    at({ get: { ...get, servers: [] } }),
  ],
  '`callbacks`, `webhooks`': [
    at({ get: { ...get, callbacks: {} } }),
    { ...at({ get }, '3.1.0'), webhooks: {} },
  ],
  'parameters `Accept`, `Content-Type`, `Authorization`': [
    'Accept',
    'Content-Type',
    'Authorization',
  ].map((name) => at(parameter({ name, in: 'header', schema: {} }))),
  'bodies of HEAD and TRACE': ['head', 'trace'].map((method) =>
    at({ [method]: { ...get, requestBody: { content: { 'text/plain': {} } } } }),
  ),
  '`content` of parameters other than JSON': [at(parameter({ content: { 'text/plain': {} } }))],
  '`deepObject` below five levels': [at(parameter({ style: 'deepObject', schema: nested(6) }))],
  'media types without a schema': [at(body({ 'image/png': {} }))],
  'bodies of `x-storegate-unchecked-body`': [
    at(
      body({ 'image/png': { schema: { type: 'object' } } }, { 'x-storegate-unchecked-body': true }),
    ),
  ],
  'styles in multipart': [at(form({ a: { style: 'form' } })), at(form({ a: { explode: true } }))],
  '`encoding` of other names': [at(form({ b: {} }))],
  'unknown formats': [at(json({ type: 'string', format: 'odd' }))],
  '`contentEncoding` and the like': ['contentEncoding', 'contentMediaType', 'contentSchema'].map(
    (keyword) =>
      at(
        json({ type: 'string', [keyword]: keyword === 'contentSchema' ? {} : 'text/plain' }),
        '3.1.0',
      ),
  ),
  '`pattern` of bytes': [
    at(body({ 'image/png': { schema: { type: 'string', format: 'binary', pattern: 'a' } } })),
  ],
  '`pattern` without bound, `onUnsupported: omit`': ['^(a+)\\1$', '(a|b|ab){1,9999}x'].map(
    (pattern) => at(json({ type: 'string', pattern })),
  ),
  '`nullable` in 3.1': [at(json({ type: 'string', nullable: true }), '3.1.0')],
  '`discriminator` alone': [at(json({ discriminator: { propertyName: 'a' } }))],
  '`mapping` of a `discriminator` to nothing': [
    at(
      json({
        oneOf: [{ type: 'object', required: ['a'], properties: { a: { enum: ['b'] } } }],
        discriminator: { propertyName: 'a', mapping: { b: '#/components/schemas/B' } },
      }),
    ),
  ],
  'types, values, limits or members that contradict each other': [
    at(json({ type: 'object', additionalProperties: false, required: ['url'] })),
  ],
  'fields beside `$ref` in 3.0': [
    {
      ...at(json({ $ref: '#/components/schemas/A', minLength: 1 })),
      components: { schemas: { A: {} } },
    },
  ],
  'other fields': [at({ get: { ...get, odd: 1 } }), { ...at({ get }), components: { odd: {} } }],
  'headers of responses': [
    at({ get: { ...get, responses: { 200: { description: 'Done.', headers: {} } } } }),
  ],
};

const notesOf = (document: object) => {
  const text = JSON.stringify({ ...head, ...document });
  const { notes } = loadContract('contract.json', {
    text,
    responses: 'report',
    onUnsupported: 'omit',
  });
  return notes;
};

describe('the table of what is not enforced', () => {
  test('has a document for each row', () => {
    expect(Object.keys(DOCUMENTS)).toEqual([...ROWS.keys()]);
  });

  test.each([...ROWS])('has the note of %s: %s', (what, note) => {
    for (const document of DOCUMENTS[what]!) {
      const notes = notesOf(document);
      expect(notes.map(({ message }) => message)).toEqual([expect.stringMatching(patternOf(note))]);
      expect(notes[0]!.place).toMatch(/^1:\d+ \//);
    }
  });
});
