import { describe, expect, test } from '@jest/globals';
import type { Contract, Treatment } from '../src/index.ts';
import { bodyChecker, done, json, load, loadText, notesOf, problemsOf, ref } from './documents.ts';

const wrong = { type: 'string', pattern: '(' };
const query = (schema: object) => ({ name: 'q', in: 'query', schema });

const operation = (operationId: string, fields: object = {}) => ({
  operationId,
  responses: done,
  ...fields,
});
const paths = {
  '/good': { get: operation('good', { parameters: [query({ type: 'integer' })] }) },
  '/bad': {
    get: operation('bad', { parameters: [query(ref('Wrong'))] }),
    post: operation('also', { requestBody: json({ type: 'object', properties: { a: wrong } }) }),
    put: operation('fine', { requestBody: json({ type: 'object' }) }),
  },
};
const components = { schemas: { Wrong: wrong } };

const lenient = (leniency: Treatment, what: object = paths): Contract =>
  load({ ...what }, components, { onUnsupported: leniency });
const exemptionsOf = ({ exempted }: Contract) =>
  exempted.map(({ method, path, treatment, problems }) => [
    treatment,
    `${method} ${path}`,
    problems.length,
  ]);

test('a document with a mistake is refused unless something else is wished for', () => {
  expect(problemsOf(() => load(paths, components))).toHaveLength(2);
  expect(problemsOf(() => load(paths, components, { onUnsupported: 'refuse' }))).toHaveLength(2);
});

describe('an operation with a mistake', () => {
  test('is left out, and all others stay', () => {
    const contract = lenient('omit');
    expect(contract.operations.map(({ id }) => id)).toEqual(['good', 'fine']);
    expect(contract.match('GET', '/bad')).toEqual({ operation: null, allow: ['PUT'] });
    expect(exemptionsOf(contract)).toEqual([
      ['omit', 'GET /bad', 1],
      ['omit', 'POST /bad', 1],
    ]);
    expect(contract.exempted[0]!.problems[0]!.message).toMatch(/^the pattern is not valid/);
  });

  test('only reports, and all others are enforced', () => {
    const contract = lenient('report');
    expect(
      contract.operations.map(({ id, reportOnly, exempt }) => [id, reportOnly, exempt]),
    ).toEqual([
      ['good', false, null],
      ['bad', true, 'report'],
      ['fine', false, null],
      ['also', true, 'report'],
    ]);
    const also = contract.operations[3]!.body!.media('application/json')!;
    expect(also.check(Buffer.from('1'))).toHaveLength(1);
  });

  test('passes whatever comes', () => {
    const [good, bad] = lenient('pass').operations;
    expect(good!.checkParameters([], 'q=x', [])).toHaveLength(1);
    expect([bad!.exempt, bad!.checkParameters([], 'q=x&y=1', [])]).toEqual(['pass', []]);
    expect(bad!.checkResponse(999, undefined, Buffer.from('x'))).toEqual([]);
  });
});

describe('a valid pattern that cannot be matched in bounded time', () => {
  const body = json({
    type: 'object',
    properties: { a: { type: 'string', pattern: '^(.+)\\1$', maxLength: 3 } },
    patternProperties: { '^(b+)\\1$': { type: 'integer' } },
  });
  const what = { '/': { post: operation('o', { requestBody: body }) } };
  const because = 'needs a back-reference: its time cannot be bounded';
  const omitting = (onUnsupported: 'refuse' | Treatment) =>
    load(what, {}, { onUnsupported }, '3.1.0');

  test('is a mistake', () => {
    expect(
      problemsOf(() => omitting('refuse')).filter((problem) => problem.includes(because)),
    ).toHaveLength(2);
    expect(exemptionsOf(omitting('report'))).toEqual([['report', 'POST /', 2]]);
  });

  test('is a note and not checked if unsupported parts are omitted', () => {
    const contract = omitting('omit');
    expect(contract.exempted).toEqual([]);
    expect(notesOf(contract)).toEqual([
      expect.stringContaining(`the pattern ${because}, so it is not checked`),
      expect.stringContaining(`the pattern ${because}, so it is not checked`),
    ]);
    const check = (value: unknown) =>
      contract.operations[0]!.body!.media('application/json')!
        .check(Buffer.from(JSON.stringify(value)))
        .map(({ rule }) => rule);
    expect([{ a: 'ab' }, { bb: 'x' }, { a: 'abcd' }].map(check)).toEqual([[], [], ['maxLength']]);
  });
});

test('the decimal numbers of pydantic are checked', () => {
  const pattern = '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$';
  const price = { anyOf: [{ type: 'number' }, { type: 'string', pattern }] };
  const post = operation('o', { requestBody: json({ type: 'object', properties: { price } }) });
  const check = bodyChecker(load({ '/': { post } }), 'application/json');
  const values = [1.5, '1.5', '-.5', '+', '1e5', ''];
  const fits = values.map((value) => check(JSON.stringify({ price: value })).length === 0);
  expect(fits).toEqual([true, true, true, false, false, false]);
});

test('a path whose operations are left out is not matched by another template', () => {
  const parameters = [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }];
  const both = {
    '/users/{id}': { post: operation('some', { parameters }) },
    '/users/admin': { post: operation('admin', { parameters: [query(wrong)] }) },
  };
  const contract = load(both, {}, { onUnsupported: 'omit' });
  expect(contract.match('POST', '/users/admin')).toEqual({ operation: null, allow: [] });
  expect(contract.match('POST', '/users/7').operation?.id).toBe('some');
});

test.each<Treatment>(['omit', 'report', 'pass'])(
  'what no request can reach is left out (%s)',
  (leniency) => {
    const get = (id: string) => ({ get: operation(id), put: { responses: done } });
    const contract = lenient(leniency, {
      '/a/b': get('a'),
      '/a/b#fragment': get('b'),
      '/%61/b': { get: operation('c'), post: operation('d') },
    });
    expect(contract.operations.map(({ id }) => id)).toEqual(['a', 'put /a/b', 'd']);
    expect(contract.match('GET', '/a/b').operation!.id).toBe('a');
    expect(contract.match('POST', '/a/b').operation!.id).toBe('d');
    expect(exemptionsOf(contract)).toEqual([
      ['omit', 'GET /a/b#fragment', 1],
      ['omit', 'PUT /a/b#fragment', 1],
      ['omit', 'GET /%61/b', 1],
    ]);
  },
);

test('an operationId that is taken is reported, and the operation has another name', () => {
  const contract = lenient('report', { '/': { get: operation('a'), put: operation('a') } });
  expect(contract.operations.map(({ id, exempt }) => [id, exempt])).toEqual([
    ['a', null],
    ['put /', 'report'],
  ]);
});

test('a mistake of no operation is a note', () => {
  const text =
    'openapi: 3.0.3\ninfo: {title: x}\npaths: {/a: {get: {operationId: a, responses: {default: {description: A}}}, put: 1}}\n';
  expect(problemsOf(() => loadText(text))).toHaveLength(2);
  const contract = loadText(text, { onUnsupported: 'pass' });
  expect(contract.operations.map(({ id, exempt }) => [id, exempt])).toEqual([['a', null]]);
  expect(notesOf(contract)).toEqual(['info needs a version', 'must be an object']);
  expect(contract.exempted).toEqual([]);
});

test('mistakes in answers are tolerated like others where answers are checked', () => {
  const bad = { 200: { description: 'Done.', ...json(wrong) } };
  const what = { '/': { get: operation('a', { responses: bad }) } };
  expect(exemptionsOf(load(what, {}, { onUnsupported: 'pass', responses: 'enforce' }))).toEqual([
    ['pass', 'GET /', 1],
  ]);
  expect(exemptionsOf(load(what, {}, { onUnsupported: 'pass', responses: 'off' }))).toEqual([]);
});

test('what cannot be read at all is refused in any case', () => {
  expect(problemsOf(() => loadText('openapi: 3.3.0\n', { onUnsupported: 'pass' }))).toHaveLength(1);
  expect(
    problemsOf(() => loadText('openapi: [\n', { onUnsupported: 'pass' })).length,
  ).toBeGreaterThan(0);
});

test('a schema that contains itself cannot bring a reporting operation down', () => {
  const schemas = { Loop: { allOf: [ref('Loop')] } };
  const what = { '/': { post: operation('a', { requestBody: json(ref('Loop')) }) } };
  const contract = load(what, { schemas }, { onUnsupported: 'report' });
  expect(bodyChecker(contract, 'application/json')('{}')).toEqual([
    'has too many schemas inside each other to be checked',
  ]);
});

describe('a body that cannot be checked is a mistake of its operation', () => {
  const requestBody = { content: { 'application/x-protobuf': { schema: { type: 'object' } } } };
  const shared = { $ref: '#/components/requestBodies/Opaque' };
  const opaque = {
    '/opaque': { post: operation('opaque', { requestBody }) },
    '/good': { get: operation('good') },
  };

  test.each<[Treatment, string[]]>([
    ['omit', ['good']],
    ['report', ['good', 'opaque']],
    ['pass', ['good', 'opaque']],
  ])('of that alone (%s)', (leniency, remaining) => {
    const contract = lenient(leniency, opaque);
    expect(contract.operations.map(({ id }) => id).sort()).toEqual(remaining);
    expect(exemptionsOf(contract)).toEqual([[leniency, 'POST /opaque', 1]]);
  });

  test('and of none that lets it pass, though both refer to it', () => {
    const both = {
      '/a': { post: operation('a', { requestBody: shared }) },
      '/b': { post: operation('b', { requestBody: shared, 'x-unchecked-body': true }) },
    };
    const bodies = { requestBodies: { Opaque: requestBody } };
    const contract = load(both, bodies, { onUnsupported: 'omit' });
    expect(contract.operations.map(({ id }) => id)).toEqual(['b']);
    expect(exemptionsOf(contract)).toEqual([['omit', 'POST /a', 1]]);
    expect(problemsOf(() => load(both, bodies))).toEqual([
      expect.stringContaining(
        '/paths/~1a/post/requestBody: bodies of type application/x-protobuf cannot be checked: ',
      ),
    ]);
  });
});
