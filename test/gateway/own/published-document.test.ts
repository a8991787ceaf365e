import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { done, head } from '../../../packages/openapi/test/documents.ts';
import { checkContract, loadContract } from '../../../src/config/contract/contract.ts';
import {
  type Publication,
  publishedDocuments,
} from '../../../src/gateway/own/published/document.ts';
import { FIGURES } from '../../../src/ledger/report.ts';
import { KIND_NAMES } from '../../../src/limits/kinds.ts';
import { folderWith } from '../../config/folder.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document of any form
type Json = any;

const SETTINGS: Publication = {
  hasUsage: true,
  keyHeaders: null,
  hasPublicPlan: true,
  refusesAfterSunset: true,
  refusesInvalid: true,
  place: { host: null, path: '/', stripPath: null },
  operations: {},
  isAlone: true,
};
const get = (more: object = {}) => ({ get: { responses: done, ...more } });

interface Options extends Partial<Publication> {
  readonly serverPath?: 'auto' | 'ignore' | 'prefix';
  readonly onUnsupported?: 'omit' | 'pass';
}

function publish(document: object, { serverPath, onUnsupported, ...more }: Options = {}): Json {
  const folder = folderWith({ 'openapi.json': JSON.stringify({ ...head, ...document }) });
  const { compiled } = checkContract(join(folder, 'openapi.json'), { serverPath, onUnsupported });
  const { json } = publishedDocuments(compiled, { ...SETTINGS, ...more });
  return JSON.parse(new TextDecoder().decode(json.bytes));
}

const urls = ({ servers }: Json): string[] => servers.map(({ url }: Json) => url);

describe('servers of the published document', () => {
  const paths = { '/a': get() };
  test.each<[string, readonly string[], Options, readonly string[]]>([
    ['none', [], {}, ['/']],
    ['of another origin', ['https://api.example.com/v1/'], {}, ['/v1']],
    ['of two origins', ['https://a.example/v1', 'http://b.example/v1'], {}, ['/v1']],
    ['with different paths', ['https://a.example/v1', 'https://a.example/v2'], {}, ['/']],
    ['with any path', ['/v1', '/', '/v1/x'], { serverPath: 'prefix' }, ['/v1/x', '/v1', '/']],
    ['with an ignored path', ['/v1'], { serverPath: 'ignore' }, ['/']],
    [
      'that would be another host',
      ['https://a.example//evil.example/x'],
      { serverPath: 'prefix' },
      ['/'],
    ],
    ['with an undefined variable', ['/{x}'], { serverPath: 'prefix' }, ['/%7Bx%7D']],
    [
      'of an API at any host of a domain',
      ['/v1'],
      { place: { host: '*.example.com', path: '/a', stripPath: null } },
      ['/a/v1'],
    ],
  ])('%s', (_what, given, options, published) => {
    const servers = given.map((url) => ({ url }));
    expect(urls(publish({ servers, paths }, options))).toEqual(published);
  });

  test('are not those of paths and operations', () => {
    const servers = [{ url: 'https://elsewhere.example' }];
    const item = { servers, ...get({ servers }) };
    const own = publish(
      { paths: { '/a': item, '/b': { $ref: '#/x-item' } }, 'x-item': item },
      { hasUsage: false },
    );
    expect(JSON.stringify(own)).not.toContain('elsewhere');
  });
});

describe('/usage in the published document', () => {
  test('has no server of its own, because it is also below the prefix', () => {
    expect(publish({ paths: {} }).paths['/usage'].servers).toBeUndefined();
    const { paths } = publish({ servers: [{ url: '/v1' }], paths: { '/a': get() } });
    expect(paths['/usage'].servers).toBeUndefined();
  });

  test('is at the root alone if an operation can have its path below the prefix', () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: {} }];
    const { paths } = publish({
      servers: [{ url: '/v1' }],
      paths: { '/{id}': get({ parameters }) },
    });
    expect(urls(paths['/usage'])).toEqual(['/']);
  });

  test('takes the place of an operation that it hides, but not of one behind a prefix', () => {
    const document = { paths: { '/usage': get({ operationId: 'own' }) } };
    expect(publish(document).paths['/usage'].get.operationId).toBe('getUsage');
    expect(publish(document, { hasUsage: false }).paths['/usage'].get.operationId).toBe('own');
    const { paths } = publish({ servers: [{ url: '/v1' }], ...document });
    expect([paths['/usage'].get.operationId, paths['/usage'].servers]).toEqual(['own', undefined]);
  });
});

test('the published response of /usage has every kind of window and every figure', () => {
  const { get: usage } = publish({ paths: {} }).paths['/usage'];
  const { windows, period } = usage.responses[200].content['application/json'].schema.properties;
  expect(windows.items.properties.kind.enum).toEqual(KIND_NAMES);
  const { required, properties } = period.properties.operations.items;
  expect(required).toEqual(['operation', ...FIGURES]);
  expect(Object.keys(properties)).toEqual(required);
});

describe('responses of an operation in the published document', () => {
  const statuses = (document: object, more?: Options) =>
    Object.keys(publish(document, more).paths['/a'].get.responses);

  const body = { content: { 'application/json': { schema: { type: 'object' } } } };
  const ends = { deprecated: true, 'x-sunset': '2030-01-31' };
  const scopes = { 'x-required-scopes': ['a'] };
  const always = ['200', '400', '429', '500', '502', '503', '504'];
  const key = ['401', '403'];

  test.each<[string, readonly string[], object, Options]>([
    ['with a key', key, {}, {}],
    ['without a key', [], { security: [] }, {}],
    ['without a key, if no plan is public', key, { security: [] }, { hasPublicPlan: false }],
    ['without a key but with scopes', key, { security: [], ...scopes }, {}],
    ['with a body', [...key, '413', '415'], { requestBody: body }, {}],
    [
      'with a body that is not checked',
      [...key, '413'],
      { requestBody: body, 'x-report-only': true },
      {},
    ],
    [
      'of a contract that only reports',
      [...key, '413'],
      { requestBody: body },
      { refusesInvalid: false },
    ],
    ['that ends', [...key, '410'], ends, {}],
    ['that is served after its end', key, ends, { refusesAfterSunset: false }],
  ])('%s are those that the gateway gives it', (_, more, operation, options) => {
    expect(statuses({ paths: { '/a': get(operation) } }, options)).toEqual(
      [...always, ...more].sort(),
    );
  });

  test('with a parameter in the path have 404, and those of /usage no backend', () => {
    const parameters = [{ name: 'id', in: 'path', required: true, schema: {} }];
    const { paths } = publish({ paths: { '/a/{id}': get({ parameters }) } });
    expect(Object.keys(paths['/a/{id}'].get.responses)).toContain('404');
    expect(Object.keys(paths['/usage'].get.responses)).toEqual([
      '200',
      '304',
      '400',
      '401',
      '403',
      '429',
      '500',
      '503',
    ]);
  });

  test('have the form of an error, with details, and an example of each code', () => {
    const { components } = publish({ paths: { '/a': get() } });
    const { schema, examples } = components.responses.GatewayBadRequest.content['application/json'];
    expect(schema.$ref).toBe('#/components/schemas/GatewayError');
    expect(Object.keys(examples)).toEqual(['malformed_request', 'invalid_request']);
    const { details } = components.schemas.GatewayError.properties;
    expect(details.items.required).toEqual(['in', 'pointer', 'rule', 'message']);
  });

  test('have the body of the author or of the gateway where both have a status', () => {
    const json = (schema: unknown) => ({ 'application/json': { schema } });
    const own = { type: 'object', properties: { error: { type: 'string' } } };
    const members = ['code', 'message', 'status', 'details'].map((name) => [name, {}] as const);
    const error = { allOf: [{ type: 'object', properties: Object.fromEntries(members) }] };
    const error_ = { $ref: '#/components/schemas/GatewayError' };
    const responses = {
      200: { description: 'Mine.', content: json(own) },
      400: { description: 'Mine.', content: json(own) },
      401: { $ref: '#/components/responses/own' },
      403: { description: 'Mine.', content: json(error) },
      404: { description: 'Mine.', content: json(own) },
      429: { description: 'Mine.' },
      500: { description: 'Mine.', content: { 'text/plain': {} } },
      502: { description: 'Mine.', content: json({}) },
    };
    const components = { responses: { own: { description: 'Mine.', content: json(own) } } };
    const { paths } = publish({ paths: { '/a': get({ responses }) }, components });
    const both = json({ anyOf: [own, error_] });
    expect(paths['/a'].get.responses).toEqual({
      200: responses[200],
      400: { description: 'Mine.', content: both },
      401: { description: 'Mine.', content: both },
      403: responses[403],
      404: responses[404],
      429: { description: 'Mine.', content: json(error_) },
      500: { description: 'Mine.', content: { 'text/plain': {}, ...json(error_) } },
      502: responses[502],
      503: { $ref: '#/components/responses/GatewayUnavailable' },
      504: { $ref: '#/components/responses/GatewayTimeout' },
    });
  });
});

describe('security of the published document', () => {
  const token = { type: 'http', scheme: 'bearer' };
  const components = { securitySchemes: { token } };
  const headerOnly = { keyHeaders: { headers: ['X-Key'], bearer: false } };

  test('asks for the key beside the token of the API, except where an operation is public', () => {
    const paths = {
      '/a': get(),
      '/b': get({ security: [] }),
      '/c': get({ security: [{}, { token: [] }] }),
    };
    const own = publish({ security: [{ token: [] }], paths, components }, headerOnly);
    expect(own.security).toEqual([{ token: [], gatewayKey: [] }]);
    expect(own.components.securitySchemes).toMatchObject({
      token,
      gatewayKey: { in: 'header', name: 'X-Key' },
    });
    expect(own.paths['/a'].get.security).toBeUndefined();
    expect(own.paths['/b'].get.security).toEqual([]);
    expect(own.paths['/c'].get.security).toEqual([{}, { token: [] }]);
    expect(own.paths['/usage'].get.security).toEqual([{ gatewayKey: [] }]);
  });

  test('asks for the key everywhere if no plan is public', () => {
    const own = publish(
      { security: [], paths: { '/b': get({ security: [] }) } },
      { hasPublicPlan: false },
    );
    expect(own.security).toEqual([{ gatewayKey: [] }, { gatewayBearer: [] }]);
    expect(own.paths['/b'].get.security).toEqual(own.security);
  });

  test('asks for the key where a scope is needed, though the document is public', () => {
    const own = publish({
      security: [],
      paths: { '/a': get({ 'x-required-scopes': ['a'] }), '/b': get() },
    });
    expect(own.security).toEqual([]);
    expect(own.paths['/a'].get.security).toEqual([{ gatewayKey: [] }, { gatewayBearer: [] }]);
    expect(own.paths['/b'].get.security).toBeUndefined();
  });
});

describe('the published document', () => {
  const CROWDED = {
    servers: [{ url: 'https://a.example/v1' }],
    tags: [{ name: 'usage', description: 'Mine.' }],
    'x-tagGroups': [{ name: 'All', tags: ['usage'] }],
    paths: {
      '/a': get({ operationId: 'getUsage', security: [{ gatewayKey: [] }], tags: ['usage'] }),
      '/b': { $ref: '#/x-item' },
      '/c': {
        parameters: [],
        ...get({ responses: { default: { $ref: '#/components/responses/gatewayforbidden' } } }),
      },
    },
    'x-item': get({ operationId: 'b' }),
    components: {
      schemas: { GatewayError: { type: 'string' } },
      responses: {
        gatewayforbidden: { description: 'Mine.' },
        GatewayUnauthorized: { description: 'Mine.' },
      },
      securitySchemes: { gatewayKey: { type: 'apiKey', in: 'query', name: 'key' } },
    },
  };

  test.each(['3.0.3', '3.1.0', '3.2.0'])(
    'is valid OpenAPI %s and keeps what its author named alike',
    (openapi) => {
      const own = publish({ ...CROWDED, openapi });
      const file = join(folderWith({ 'openapi.json': JSON.stringify(own) }), 'openapi.json');
      const { operations, prefixes } = loadContract(file, { responses: 'enforce' });
      expect(operations.map(({ id }) => id)).toEqual(['getUsage', 'b', 'get /c', 'getUsage2']);
      expect(prefixes).toEqual(['/v1']);
      for (const [name, section] of Object.entries(CROWDED.components))
        expect(own.components[name]).toMatchObject(section);
      expect(Object.keys(own.components.schemas)).toEqual(['GatewayError', 'GatewayError2']);
      expect(own.tags.map(({ name }: Json) => name)).toEqual(['usage', 'Usage2']);
      expect(own['x-tagGroups'].at(-1)).toEqual({ name: 'Gateway', tags: ['Usage2'] });
      expect(own.paths['/a'].get.security).toEqual([{ gatewayKey: [], gatewayKey2: [] }]);
    },
  );

  test('omits what is not served, and changes what passes with mistakes', () => {
    const parameters = [{ name: 'q', in: 'query', schema: { type: 'string', pattern: '(' } }];
    const paths = {
      '/a': { servers: [{ url: '/x' }], put: { responses: done }, ...get({ parameters }) },
    };
    expect(publish({ paths }, { onUnsupported: 'omit' }).paths['/a']).toEqual({
      put: { responses: expect.objectContaining({ 429: expect.anything() }) },
    });
    const passed = publish({ paths }, { onUnsupported: 'pass' }).paths['/a'].get;
    expect(passed).toMatchObject({ parameters, responses: { 401: expect.anything() } });
  });
});

test.each([true, false])(
  'what keys for some APIs get is shown unless one is alone: %s',
  (isAlone) => {
    const text = JSON.stringify(publish({ paths: { '/a': get() } }, { isAlone }));
    for (const name of ['"api_not_allowed"', '"apis"']) expect(text.includes(name)).toBe(!isAlone);
  },
);
