import { resolve } from 'node:path';
import * as v8 from 'node:v8';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Contract, type ContractOptions, checkContract, loadContract } from '../src/index.ts';
import { createContract } from '../src/runtime.ts';
import { deserialize, type Serialized, serialize } from '../src/serialize.ts';
import { atOnce } from '../src/slices.ts';
import { bigints, done, head, loadText, only, ref } from './documents.ts';

const here = import.meta.dirname;
const files = [
  resolve(here, 'fixtures/shop/openapi.yaml'),
  resolve(here, 'fixtures/garden/openapi.yaml'),
];

/** As another process gets it. */
function sent(file: string, options?: ContractOptions): Contract {
  const sent = v8.deserialize(
    v8.serialize(serialize(checkContract(file, options).compiled)),
  ) as Serialized;
  return atOnce(createContract(atOnce(deserialize(sent))));
}

describe.each(files)('%s', (file) => {
  const [one, other] = [loadContract(file), sent(file)];

  test('arrives with every operation, name and digit', () => {
    expect(other.json).toBe(one.json);
    expect(other.names).toEqual(one.names);
    expect([other.title, other.version, other.fingerprint]).toEqual([
      one.title,
      one.version,
      one.fingerprint,
    ]);
    for (const [i, { id, method, path, tags, sunset, replyHeaders }] of one.operations.entries())
      expect(other.operations[i]).toMatchObject({ id, method, path, tags, sunset, replyHeaders });
  });

  test('is judged in the same way', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom('1', '-1', 'true', '9223372036854775808', 'a,b'),
    );
    const words = fc.array(
      fc.constantFrom('limit', 'status', 'q', '=', '=', '&', '1', 'x', ',', '%20', '%', '+'),
    );
    for (const [i, operation] of one.operations.entries()) {
      const same = other.operations[i]!;
      fc.assert(
        fc.property(
          fc.json(),
          fc.array(text),
          words,
          fc.integer({ min: 99, max: 599 }),
          (body, path, words, status) => {
            const segments = Array.from({ length: 5 }, (_, n) =>
              encodeURIComponent(path[n] ?? 'x'),
            );
            const query = words.join('');
            const bytes = new TextEncoder().encode(body);
            expect(same.checkParameters(segments, query, [])).toEqual(
              operation.checkParameters(segments, query, []),
            );
            const rule = operation.body?.media(operation.body.accepted[0]);
            expect(same.body?.media(same.body.accepted[0])?.check(bytes)).toEqual(
              rule?.check(bytes),
            );
            const response = [status, 'application/json', bytes] as const;
            expect(same.checkResponse(...response)).toEqual(operation.checkResponse(...response));
          },
        ),
        { numRuns: 20 },
      );
    }
  });
});

test('integers that JavaScript has no number for stay exact on the way', () => {
  const schema = { type: 'integer', minimum: 0n, maximum: 9223372036854775807n };
  const paths = {
    '/': { get: { parameters: [{ name: 'q', in: 'query', schema }], responses: done } },
  };
  const text = JSON.stringify({ ...head, paths }, bigints);
  const contract = sent('openapi.json', { text });
  expect(contract.json).toBe(loadText(text).json);
  expect(only(contract).checkParameters([], 'q=9223372036854775807', [])).toEqual([]);
  expect(only(contract).checkParameters([], 'q=9223372036854775808', [])).toHaveLength(1);
});

test('operations are read and created in steps, so that others are served between them', () => {
  const names = Array.from({ length: 120 }, (_, i) => `/path${i}`);
  const text = JSON.stringify({
    ...head,
    paths: Object.fromEntries(names.map((name) => [name, { get: { responses: done } }])),
  });
  const reading = deserialize(serialize(checkContract('openapi.json', { text }).compiled));
  let steps = 0;
  let next = reading.next();
  for (; !next.done; next = reading.next()) steps++;
  expect(steps).toBeGreaterThan(2);
  const creating = createContract(next.value);
  for (const _ of names) expect(creating.next().done).toBe(false);
  expect(atOnce(creating).operations.map(({ path }) => path)).toEqual(names);
});

test('what an operation says of its requests arrives', () => {
  const requestBody = { content: { 'text/plain': {} } };
  const post = { requestBody, responses: done, 'x-max-body-bytes': 9, 'x-report-only': true };
  const text = JSON.stringify({ ...head, paths: { '/': { post } } });
  expect(only(sent('openapi.json', { text }))).toMatchObject({ maxBodyBytes: 9, reportOnly: true });
});

describe('a contract with mistakes', () => {
  const wrong = { name: 'q', in: 'query', schema: { type: 'string', pattern: '(' } };
  const content = { 'application/json': { schema: { type: 'integer' } } };
  const servers = [{ url: 'https://example.org/v1' }];
  const put = { operationId: 'put', requestBody: { content }, responses: done };
  const paths = {
    '/a': { put, get: { operationId: 'get', parameters: [wrong], responses: done } },
  };
  const text = JSON.stringify({ ...head, servers, paths });
  const bytes = new TextEncoder().encode('1.0');

  test.each(['omit', 'report', 'pass'] as const)('arrives as it is read (%s)', (leniency) => {
    const more = { integers: 'any', serverPath: 'prefix', unknownQuery: 'pass' } as const;
    const options = { text, onUnsupported: leniency, ...more };
    const [one, other] = [loadContract('openapi.json', options), sent('openapi.json', options)];
    expect(other.exempted).toEqual(one.exempted);
    expect(other.exempted).toMatchObject([{ id: 'get', treatment: leniency }]);
    expect(other.match('PUT', '/a')).toEqual({ operation: null, allow: null });
    const { operation } = other.match('PUT', '/v1/a');
    expect(operation!.body!.media('application/json')!.check(bytes)).toEqual([]);
    expect(operation!.checkParameters([], 'odd=1', [])).toEqual([]);
    expect(other.match('GET', '/v1/a').operation?.exempt).toBe(
      leniency === 'omit' ? undefined : leniency,
    );
  });

  test('may have no paths at all', () => {
    const contract = sent('openapi.json', { text: JSON.stringify(head), onUnsupported: 'omit' });
    expect(contract.operations).toEqual([]);
    expect(JSON.parse(contract.json)).toEqual(head);
  });
});

test('bodies of every media type are checked in the same way', () => {
  const properties = {
    n: { type: 'integer' },
    file: { type: 'string', format: 'binary', maxLength: 3 },
  };
  const types = ['multipart/form-data', 'application/xml', 'application/x-protobuf'];
  const content = Object.fromEntries(types.map((type) => [type, { schema: ref('Form') }]));
  const put = { 'x-unchecked-body': true, requestBody: { content }, responses: done };
  const components = { schemas: { Form: { type: 'object', properties } } };
  const text = JSON.stringify({ ...head, paths: { '/': { put } }, components });
  const [one, other] = [loadContract('openapi.json', { text }), sent('openapi.json', { text })];
  const file = (bytes: string) =>
    `--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n${bytes}\r\n--b--\r\n`;
  const faults = (contract: Contract, type: string, body: string) =>
    only(contract).body!.media(type)!.check(new TextEncoder().encode(body));
  for (const [type, body, count] of [
    ['multipart/form-data; boundary=b', file('abc'), 0],
    ['multipart/form-data; boundary=b', file('abcd'), 1],
    ['application/xml', '<Form><n>1</n></Form>', 0],
    ['application/xml', '<Form><n>1.5</n></Form>', 1],
    ['application/x-protobuf', 'odd', 0],
  ] as const) {
    expect(faults(other, type, body)).toHaveLength(count);
    expect(faults(other, type, body)).toEqual(faults(one, type, body));
  }
});
