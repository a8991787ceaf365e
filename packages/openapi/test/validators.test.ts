import { describe, expect, test } from '@jest/globals';
import { loadContract, type RequestInput } from '../src/index.ts';
import { done, head, json, queryChecker, short } from './documents.ts';

const integer = { type: 'integer' };
const pet = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, count: integer },
};

const paths = {
  '/pets/{id}': {
    parameters: [{ name: 'id', in: 'path', required: true, schema: integer }],
    get: {
      operationId: 'show',
      parameters: [
        { name: 'tags', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
        { name: 'limit', in: 'query', schema: { type: ['integer', 'string'] } },
        { name: 'X-Trace', in: 'header', schema: integer },
        { name: 'dark', in: 'cookie', schema: { type: 'boolean' } },
        { name: 'filter', in: 'query', ...json(pet) },
      ],
      responses: { 200: { description: 'A pet.', ...json(pet) } },
    },
    put: { operationId: 'change', requestBody: { required: true, ...json(pet) }, responses: done },
    post: { operationId: 'maybe', requestBody: json(pet), responses: done, 'x-max-body-bytes': 20 },
  },
  '/forms': {
    post: {
      operationId: 'send',
      requestBody: {
        content: {
          'application/x-www-form-urlencoded': { schema: pet },
          'text/plain': { schema: { type: 'string' } },
          'image/png': {},
        },
      },
      responses: done,
    },
  },
  '/reports': { get: { operationId: 'report', 'x-report-only': true, responses: done } },
  '/broken': {
    get: { operationId: 'broken', parameters: [{ name: 'a', in: 'nowhere' }], responses: done },
  },
};
const document = { ...head, openapi: '3.1.0', paths };
const contract = loadContract(document, { onUnsupported: 'pass' });

const JSON_TYPE = { 'content-type': 'application/json' };
const request = (method: string, url: string, more: Partial<RequestInput> = {}) =>
  contract.validateRequest({ method, url, headers: {}, ...more });

describe('a valid request has status 200 and its parsed values', () => {
  test('of parameters', () => {
    const headers = { 'x-trace': '5', cookie: 'dark=true' };
    const url = '/pets/7?tags=a&tags=b&limit=10&filter=%7B%22name%22:%22Rex%22%7D';
    const { status, faults, operation, values } = request('GET', url, { headers });
    expect([status, faults, operation?.id]).toEqual([200, [], 'show']);
    expect(values).toEqual({
      path: { id: 7 },
      query: { tags: ['a', 'b'], limit: 10, filter: { name: 'Rex' } },
      header: { 'X-Trace': 5 },
      cookie: { dark: true },
      body: undefined,
    });
  });

  test.each([
    [
      'JSON',
      '/pets/7',
      'application/json',
      '{"name":"Rex","count":9007199254740993}',
      { name: 'Rex', count: 9007199254740993n },
    ],
    [
      'a form',
      '/forms',
      'application/x-www-form-urlencoded',
      'name=Rex&count=2',
      { name: 'Rex', count: 2 },
    ],
    ['text', '/forms', 'text/plain', 'Rex', 'Rex'],
    ['bytes, which are not parsed', '/forms', 'image/png', 'Rex', undefined],
  ])('of %s', (_, url, type, body, value) => {
    for (const sent of [body, Buffer.from(body)]) {
      const { values, faults } = request(url === '/forms' ? 'POST' : 'PUT', url, {
        headers: { 'content-type': type },
        body: sent,
      });
      expect([faults, values?.body]).toEqual([[], value]);
    }
  });

  test.each([
    ['a list as Node has it', ['X-Trace', 'x', 'Content-Type', 'application/json']],
    ['Headers', new Headers({ 'X-Trace': 'x' })],
    ['an object with lists', { 'x-trace': ['x'] }],
  ])('headers may be %s', (_, headers) => {
    expect(short(request('GET', '/pets/7', { headers }).faults)).toEqual([
      '/X-Trace must be an integer',
    ]);
  });

  test.each<[string, string, string | URL]>([
    ['a method in lower case', 'get', '/pets/7?limit=10'],
    ['a URL object, without its fragment', 'GET', new URL('http://localhost:1/pets/7?limit=10#a')],
  ])('of %s', (_, method, url) => {
    const { status, values } = contract.validateRequest({ method, url, headers: {} });
    expect([status, values?.path, values?.query]).toEqual([200, { id: 7 }, { limit: 10 }]);
  });

  test('GET serves HEAD, a URL may be absolute, a path in another spelling is the same', () => {
    expect(request('HEAD', 'http://localhost:1/%70ets/7').values?.path).toEqual({ id: 7 });
  });
});

describe('an invalid request has the status for its client, and faults', () => {
  const put = (more: Partial<RequestInput>) => request('PUT', '/pets/7', more);

  const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
  const two = { 'content-type': ['application/json', 'a/b'] };
  const large = { body: '{"name":"Rex the Second"}', headers: JSON_TYPE };

  test.each([
    [404, request('GET', '/cats'), ['is not described']],
    [405, request('DELETE', '/pets/7'), ['has only the methods GET, PUT, POST, HEAD']],
    [
      400,
      request('GET', '/pets/a?limt=1'),
      ['/id must be an integer', '/limt is not a parameter of this operation: did you mean limit?'],
    ],
    [400, put({}), ['request body is required']],
    [400, put({ body: '', headers: JSON_TYPE }), ['request body is required']],
    [400, put({ body: '{"name":1}', headers: JSON_TYPE }), ['/name must be a string']],
    [400, request('GET', '/pets/7', { body: 'a' }), ['request body is not allowed']],
    [
      415,
      put({ body: 'a', headers: { 'content-type': 'a/b' } }),
      ['must be of type application/json'],
    ],
    [415, put({ body: '{}' }), ['must be of type application/json']],
    [415, put({ body: '{}', headers: two }), ['must be of type application/json']],
    [415, put({ body: 'a', headers: gzip }), ['has a Content-Encoding, which cannot be checked']],
    [413, request('POST', '/pets/7', large), ['has more than 20 bytes']],
  ])('%i (%#)', (status, result, faults) => {
    expect([result.status, short(result.faults), result.values]).toEqual([status, faults, null]);
  });

  test('405 has the methods for Allow', () => {
    expect(request('DELETE', '/pets/7').allow).toEqual(['GET', 'PUT', 'POST', 'HEAD']);
  });

  const paths =
    '/pets/../reports /pets/%2e%2E/reports /pets//7 /pets/a%2Fb /pets/7;a /pets/%3b /pets/%00' +
    ' /pets/%5C /pets/%ff /pets/%7 /pets/ü * //evil/pets/7';
  test.each([
    ...paths.split(' ').map((path) => ['path', path]),
    ['query', '/reports?a= b'],
    ['query', '/reports?a#b'],
  ])('400 for the %s of %j, which servers read in different ways', (place, url) => {
    expect(request('GET', url!)).toMatchObject({
      status: 400,
      faults: [{ in: place, rule: 'encoding' }],
    });
  });
});

test('reports the faults of x-report-only with status 200, and checks no exempt operation', () => {
  expect(request('GET', '/reports?a=1')).toMatchObject({
    status: 200,
    faults: [{ pointer: '/a' }],
    values: null,
  });
  expect(request('GET', '/broken?a=1', { body: 'a' })).toMatchObject({
    status: 200,
    faults: [],
    values: null,
  });
});

describe('a response', () => {
  const response = (body: string | undefined, more: object = {}) =>
    contract.validateResponse({
      method: 'GET',
      url: '/pets/7',
      status: 200,
      headers: JSON_TYPE,
      body,
      ...more,
    });

  test('has its parsed body', () => {
    const { faults, operation, body } = response('{"name":"Rex"}', {
      headers: { ...JSON_TYPE, 'content-length': 14 },
    });
    expect([faults, operation?.id, body]).toEqual([[], 'show', { name: 'Rex' }]);
  });

  test.each([
    ['an invalid body', response('{}'), ['/name is required']],
    ['no body', response(undefined), ['is not valid JSON: a value is expected (at byte 0)']],
    ['another status', response('{}', { status: 404 }), ['status 404 is not described']],
    [
      'an encoding',
      response('a', { headers: { 'content-encoding': 'br' } }),
      ['has a Content-Encoding, which cannot be checked'],
    ],
    ['an unknown request', response('{}', { url: '/cats' }), ['has no operation for the request']],
    ['HEAD', response(undefined, { method: 'HEAD' }), []],
    [
      'an exempt operation',
      response('a', { url: '/broken', headers: { 'content-encoding': 'br' } }),
      [],
    ],
  ])('has the faults of %s', (_, { faults, body }, sentences) => {
    expect([short(faults), body]).toEqual([sentences, undefined]);
  });
});

test('a key in the query that only security describes is allowed where it is used', () => {
  const get = (more: object = {}) => ({ get: { responses: done, ...more } });
  const { validateRequest } = loadContract({
    ...head,
    security: [{ query: [] }, { header: [] }],
    paths: { '/': get(), '/free': get({ security: [] }) },
    components: {
      securitySchemes: {
        query: { type: 'apiKey', in: 'query', name: 'key' },
        header: { type: 'apiKey', in: 'header', name: 'X-Key' },
      },
    },
  });
  const faults = (url: string) =>
    short(validateRequest({ method: 'GET', url, headers: {} }).faults);
  expect(faults('/?key=a')).toEqual([]);
  expect(faults('/?keyy=a')).toHaveLength(1);
  expect(faults('/?X-Key=a')).toHaveLength(1);
  expect(faults('/free?key=a')).toEqual(['/key is not a parameter of this operation']);
});

describe('without blocking', () => {
  const long = `[${'{"name":"Rex","count":7},'.repeat(50_000)}{"name":1}]`;
  const pets = loadContract({
    ...head,
    paths: {
      '/pets': {
        post: {
          requestBody: json({ type: 'array', items: pet }),
          responses: { 200: { description: 'All.', ...json({ type: 'array', items: pet }) } },
        },
      },
    },
  });
  const message = { method: 'POST', url: '/pets', headers: JSON_TYPE, body: long, status: 200 };

  /** Turns of the event loop until `work` is done. */
  async function turnsDuring(work: Promise<unknown>): Promise<number> {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await work;
    isDone = true;
    return turns;
  }

  test.each([
    ['request', pets.validateRequestAsync, pets.validateRequest],
    ['response', pets.validateResponseAsync, pets.validateResponse],
  ])('a large %s has the same result, and other work runs meanwhile', async (_, slow, atOnce) => {
    const work = slow(message);
    expect(await turnsDuring(work)).toBeGreaterThan(5);
    const { operation: _one, ...result } = await work;
    const { operation: _other, ...expected } = atOnce(message);
    expect(result).toEqual(expected);
    expect(short(result.faults)).toEqual(['/50000/name must be a string']);
  });

  test('several large requests share the turns', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => pets.validateRequestAsync(message)));
    expect(one).toEqual(other);
  });

  test('a wrong argument rejects with a TypeError', async () => {
    const wrong = { ...message, headers: 1 as never };
    await expect(pets.validateRequestAsync(wrong)).rejects.toThrow(TypeError);
    await expect(pets.validateResponseAsync(wrong)).rejects.toThrow(TypeError);
    await expect(pets.validateResponseAsync({ ...message, status: 'ok' as never })).rejects.toThrow(
      'the status must be a number',
    );
  });
});

describe('headers of a response', () => {
  const string = { type: 'string', maxLength: 1 };
  const headers = {
    'X-Count': { schema: integer, required: true },
    'X-Tags': { schema: { type: 'array', items: integer } },
    'X-Page': json(pet),
    'Set-Cookie': { schema: string },
    'Content-Type': { schema: integer, required: true },
  };
  const responses = {
    200: { description: 'Done.', headers },
    default: { description: 'Others.', headers: { 'X-Why': { schema: integer } } },
  };
  const { validateResponse } = loadContract({ ...head, paths: { '/': { get: { responses } } } });

  test.each<[status: number, headers: Record<string, string | string[]>, ...faults: string[]]>([
    [200, { 'x-count': '7', 'x-tags': '1, 2', 'set-cookie': ['a=b', 'c=d'] }],
    [200, {}, '/X-Count is required'],
    [200, { 'x-count': 'a' }, '/X-Count must be an integer'],
    [200, { 'x-count': ['1', '2'] }, '/X-Count is given more than once'],
    [200, { 'x-count': '1', 'x-tags': ['1', 'a'] }, '/X-Tags/1 must be an integer'],
    [200, { 'x-count': '1', 'x-page': '{}' }, '/X-Page/name is required'],
    [404, {}],
    [404, { 'x-why': 'a' }, '/X-Why must be an integer'],
  ])('are those of its status: %i with %j', (status, headers, ...sentences) => {
    const { faults } = validateResponse({ method: 'GET', url: '/', status, headers });
    expect(faults.every(({ in: place }) => place === 'header')).toBe(true);
    expect(short(faults)).toEqual(sentences);
  });
});

describe('a wrong argument throws a TypeError that names it', () => {
  const { operation, parameters } = contract.match('PUT', '/pets/7') as Extract<
    ReturnType<typeof contract.match>,
    { parameters: readonly string[] }
  >;
  const wrong = (value: unknown) => value as never;
  const ok = { method: 'PUT', url: '/pets/7', headers: JSON_TYPE, body: '{}' };

  const request = (more: object) => () => contract.validateRequest(wrong({ ...ok, ...more }));
  const load =
    (options: object, from: unknown = document) =>
    () =>
      loadContract(wrong(from), wrong(options));

  test.each<[message: string, ...calls: (() => unknown)[]]>([
    ['the argument must be an object', () => contract.validateRequest(wrong(undefined))],
    ['method must be a string', request({ method: undefined })],
    ['url must be a string or a URL', request({ url: 7 })],
    [
      'headers must be an object, Headers, or a list',
      request({ headers: undefined }),
      request({ headers: ['a'] }),
      request({ headers: { a: {} } }),
    ],
    [
      'not a parsed value',
      request({ body: {} }),
      () => operation.checkResponse(200, undefined, wrong('')),
      () => operation.body!.media('application/json')!.check(wrong({})),
    ],
    ['but body is missing', request({ headers: { 'content-length': '2' }, body: undefined })],
    [
      'the status must be a number',
      () => contract.validateResponse(wrong({ ...ok, status: '200' })),
      () => operation.checkResponse(wrong('200'), undefined, Buffer.of()),
    ],
    ['the method must be a string', () => contract.match(wrong(undefined), '/')],
    ['the path must be a string', () => contract.match('GET', wrong(undefined))],
    ['the parameters must be a list', () => operation.checkParameters(wrong(undefined), '', [])],
    ['the query must be a string', () => operation.checkParameters(parameters, wrong({}), [])],
    ['the headers must be a list', () => operation.checkParameters(parameters, '', wrong({}))],
    [
      'the Content-Type must be a string',
      () => operation.checkResponse(200, wrong(1), Buffer.of()),
      () => operation.body!.media(wrong(1)),
    ],
    [
      'the document must be the name of a file, or an object',
      () => loadContract(wrong(undefined)),
      load({}, []),
    ],
    ['the option text is for the name of a file', load({ text: '{}' })],
    ['options must be an object', () => loadContract(document, wrong('refuse'))],
    ['unknownQuerry is not an option: did you mean unknownQuery?', load({ unknownQuerry: 'pass' })],
    ['valueOf is not an option: the options are unknownQuery, ', load({ valueOf: 1 })],
    ['the option responses must be enforce, report, off', load({ responses: 'on' })],
    ['the option maxDepth must be an integer of 1 or more', load({ maxDepth: 0 })],
    [
      'the option uncheckedBodyField must be a name that begins with x-',
      load({ uncheckedBodyField: 'free' }),
    ],
    ['the option text must be a string', load({ text: 1 }, 'a')],
    ['the option extensions must be an ExtensionReader', load({ extensions: {} })],
  ])('%s', (message, ...calls) => {
    for (const call of calls) {
      expect(call).toThrow(TypeError);
      expect(call).toThrow(message);
    }
  });
});

describe('a document may be an object', () => {
  test('which stays as it is', () => {
    const text = JSON.stringify(document);
    loadContract(document, { onUnsupported: 'omit' });
    expect(JSON.stringify(document)).toBe(text);
  });

  test('whose mistakes have the pointer', () => {
    expect(() => loadContract({ ...document, info: {} })).toThrow(
      'document:3:11 /info: info needs a title',
    );
    expect(() => loadContract({})).toThrow(
      'document:1:1: must be an OpenAPI 3.0, 3.1 or 3.2 document',
    );
  });

  test('which contains itself: the error has the place', () => {
    const node: Record<string, unknown> = { type: 'object' };
    node.properties = { name: { type: 'string' }, next: node };
    const shared = { type: 'string' };
    const components = { schemas: { Name: shared, 'A/B': shared, Node: node } };
    expect(() => loadContract({ ...document, components })).toThrow(
      'document: contains itself: the value of /components/schemas/Node/properties/next is one of the objects around it',
    );
  });

  test('with bigints', () => {
    const schema = { type: 'integer', maximum: 2n ** 62n };
    const get = { parameters: [{ name: 'a', in: 'query', schema }], responses: done };
    const check = queryChecker(loadContract({ ...head, paths: { '/': { get } } }));
    expect(check(`a=${2n ** 62n}`)).toEqual([]);
    expect(check(`a=${2n ** 62n + 1n}`)).toEqual(['/a must be at most 4611686018427387904']);
  });
});

test('the caller names the field that lets bodies pass unchecked', () => {
  const post = {
    requestBody: { content: { 'text/csv': { schema: { type: 'object' } } } },
    responses: done,
    'x-free': true,
  };
  const free = { ...head, paths: { '/': { post } } };
  expect(() => loadContract(free)).toThrow('x-unchecked-body: true lets them pass');
  expect(() =>
    loadContract(
      { ...free, paths: { '/': { post: { ...post, 'x-free': false } } } },
      { uncheckedBodyField: 'x-free' },
    ),
  ).toThrow('x-free: true lets them pass');
  expect(loadContract(free, { uncheckedBodyField: 'x-free' }).operations).toHaveLength(1);
});
