import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Router } from '../src/router.ts';
import { namesIn, outlineOf, parseTemplate, type Segment } from '../src/template.ts';

function segmentsOf(path: string): readonly Segment[] {
  const segments = parseTemplate(path);
  if (typeof segments === 'string') throw new Error(`${path} ${segments}`);
  return segments;
}

function routerOf(paths: Record<string, string[]>): Router<string> {
  const router = new Router<string>();
  for (const [path, methods] of Object.entries(paths)) {
    for (const method of methods) router.add(segmentsOf(path), method, `${method} ${path}`);
  }
  return router;
}

const gets = (...paths: string[]) =>
  routerOf(Object.fromEntries(paths.map((path) => [path, ['GET']])));

test.each([
  ['/', '/', []],
  ['/pets', '/pets', []],
  ['/pets/mine', '/pets/mine', []],
  ['/pets/7', '/pets/{id}', ['7']],
  ['/pets/min', '/pets/{id}', ['min']],
  ['/pets/mine/tags', '/pets/{id}/tags', ['mine']],
  ['/pets/mine/owner', '/pets/mine/owner', []],
  ['/pets/7/tags/x%2Fy', '/pets/{id}/tags/{tag}', ['7', 'x%2Fy']],
  ['/files/a.json', '/files/{name}.json', ['a']],
  ['/files/a.b.json', '/files/{name}.json', ['a.b']],
  ['/files/a.xml', '/files/{name}', ['a.xml']],
  ['/files/.json', '/files/{name}', ['.json']],
  ['/range/1-2-3', '/range/{from}-{to}', ['1', '2-3']],
  ['/range/12', '/range/{single}', ['12']],
  ['/range/1-', '/range/{single}', ['1-']],
])('%s is %s', (path, template, parameters) => {
  const router = gets(
    '/',
    '/pets',
    '/pets/{id}',
    '/pets/mine',
    '/pets/{id}/tags',
    '/pets/{id}/tags/{tag}',
    '/pets/mine/owner',
    '/files/{name}',
    '/files/{name}.json',
    '/range/{single}',
    '/range/{from}-{to}',
  );
  expect(router.match('GET', path)).toEqual({ operation: `GET ${template}`, parameters });
});

test.each(['/pets/', '/pets//tags', '/Pets', '/pets/7/', '//', '/pets/7/tags/', ''])(
  '%j does not match',
  (path) => {
    const router = gets('/pets', '/pets/{id}', '/pets/{id}/tags');
    expect(router.match('GET', path)).toEqual({ operation: null, allow: null });
  },
);

describe('methods', () => {
  const router = routerOf({
    '/pets/mine': ['GET'],
    '/pets/{id}': ['GET', 'DELETE'],
    '/own': ['HEAD', 'GET'],
    '/post': ['POST'],
  });

  test.each<[request: string, operation: string, ...parameters: string[]]>([
    // GET answers HEAD, unless there is an operation for it.
    ['HEAD /pets/7', 'GET /pets/{id}', '7'],
    ['HEAD /own', 'HEAD /own'],
    // A template has the methods that a path with more literal text lacks.
    ['DELETE /pets/mine', 'DELETE /pets/{id}', 'mine'],
    ['HEAD /pets/mine', 'GET /pets/mine'],
  ])('%s is %s', (request, operation, ...parameters) => {
    const [method, path] = request.split(' ') as [string, string];
    expect(router.match(method, path)).toEqual({ operation, parameters });
  });

  test.each([
    ['PUT /pets/7', ['GET', 'DELETE', 'HEAD']],
    ['HEAD /post', ['POST']],
    ['constructor /post', ['POST']],
    ['PUT /pets/mine', ['GET', 'HEAD', 'DELETE']],
  ])('%s has another method, of %j', (request, allow) => {
    const [method, path] = request.split(' ') as [string, string];
    expect(router.match(method, path)).toEqual({ operation: null, allow });
  });

  test('of several templates, the one with more literal text comes first', () => {
    const deep = routerOf({
      '/a/b/{x}': ['PUT'],
      '/a/{y}/c': ['POST'],
      '/a/{y}/{x}.c': ['PATCH'],
      '/{z}/b/c': ['DELETE', 'POST'],
      '/a/b/c': ['GET'],
    });
    const of = (method: string, path = '/a/b/c') => deep.match(method, path);
    expect(of('POST')).toEqual({ operation: 'POST /a/{y}/c', parameters: ['b'] });
    expect(of('DELETE')).toEqual({ operation: 'DELETE /{z}/b/c', parameters: ['a'] });
    expect(of('PATCH', '/a/b/x.c')).toEqual({
      operation: 'PATCH /a/{y}/{x}.c',
      parameters: ['b', 'x'],
    });
    expect(of('TRACE')).toEqual({
      operation: null,
      allow: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'],
    });
  });

  test('an omitted method is not taken over by a template', () => {
    const omitting = routerOf({ '/a/{x}': ['GET', 'PUT'], '/{y}/{x}': ['GET', 'PUT', 'PATCH'] });
    omitting.add(segmentsOf('/a/me'), 'GET', 'me');
    omitting.add(segmentsOf('/a/me'), 'PUT', null);
    omitting.add(segmentsOf('/b/{x}'), 'PUT', null);
    expect(omitting.match('GET', '/a/me').operation).toBe('me');
    expect(omitting.match('PUT', '/a/me')).toEqual({ operation: null, allow: ['GET', 'HEAD'] });
    expect(omitting.match('PATCH', '/a/me').operation).toBe('PATCH /{y}/{x}');
    expect(omitting.match('PUT', '/b/1')).toEqual({ operation: null, allow: [] });
    expect(omitting.match('GET', '/b/1').operation).toBe('GET /{y}/{x}');
    omitting.add(segmentsOf('/c/{x}'), 'GET', null);
    expect(omitting.match('HEAD', '/c/1')).toEqual({ operation: null, allow: [] });
  });
});

const literal = fc.stringMatching(/^[a-z]{1,3}$/);
const templates = fc
  .array(fc.oneof(literal, fc.constant('{}')), { minLength: 1, maxLength: 5 })
  .map((segments) => segments.map((segment, i) => (segment === '{}' ? `{p${i}}` : segment)))
  .map((segments) => `/${segments.join('/')}`);

const manyTemplates = fc.uniqueArray(templates, {
  minLength: 1,
  maxLength: 30,
  selector: (path) => outlineOf(segmentsOf(path)),
});

test('a concrete path comes before every template that fits it', () => {
  fc.assert(
    fc.property(
      manyTemplates,
      fc.array(literal, { minLength: 1, maxLength: 5 }),
      (paths, segments) => {
        const concrete = `/${segments.join('/')}`;
        const router = gets(...new Set([...paths, concrete]));
        expect(router.match('GET', concrete)).toEqual({
          operation: `GET ${concrete}`,
          parameters: [],
        });
      },
    ),
  );
});

test('a filled template is found, as itself or as one that is more concrete', () => {
  fc.assert(
    fc.property(
      manyTemplates,
      fc.nat(),
      fc.array(fc.stringMatching(/^[a-z0-9._~%-]{1,4}$/), { minLength: 5, maxLength: 5 }),
      (paths, n, fill) => {
        const template = paths[n % paths.length]!;
        let i = 0;
        const path = template.replace(/\{[^}]*\}/g, () => fill[i++]!);
        const found = gets(...paths).match('GET', path);
        expect(found.operation).not.toBeNull();
        const chosen = found.operation!.slice('GET '.length);
        const values = 'parameters' in found ? [...found.parameters] : [];
        expect(chosen.replace(/\{[^}]*\}/g, () => values.shift()!)).toBe(path);
        const rank = (text: string) =>
          text
            .split('/')
            .map((segment) => (segment.startsWith('{') ? 1 : 0))
            .join('');
        expect(rank(chosen) <= rank(template)).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test('what fits no template is not found', () => {
  fc.assert(
    fc.property(
      manyTemplates,
      fc.array(fc.stringMatching(/^[A-Z]{1,3}$/), { maxLength: 6 }),
      (paths, segments) => {
        const path = `/${segments.join('/')}`;
        const fits = paths.some((template) => {
          const parts = template.slice(1).split('/');
          return parts.length === segments.length && parts.every((part) => part.startsWith('{'));
        });
        expect(gets(...paths).match('GET', path).operation !== null).toBe(fits);
      },
    ),
  );
});

describe('templates', () => {
  test('are put into canonical form where they are literal', () => {
    expect(
      gets('/föö bar/%7euser/%2f').match('GET', '/f%C3%B6%C3%B6%20bar/~user/%2F').operation,
    ).not.toBeNull();
    expect(gets("/a!$&'()*+,=:@-._~").match('GET', "/a!$&'()*+,=:@-._~").operation).not.toBeNull();
    expect(gets('/100%/{x}').match('GET', '/100%25/1').operation).not.toBeNull();
  });

  test('have names in their order', () => {
    expect(namesIn('/a/{x}/{y}-{z}.json')).toEqual(['x', 'y', 'z']);
  });

  test.each([
    ['pets', 'must begin with /'],
    ['/pets?x={x}', 'must have no query and no fragment'],
    ['/pets#x', 'must have no query and no fragment'],
    ['/{a}{b}', 'has two templates with nothing between them'],
    ['/{a}/{a}', 'has {a} twice'],
    ['/{a', 'has a brace without its partner'],
    ['/a}', 'has a brace without its partner'],
    ['/{a/b}', 'has a brace without its partner'],
    ['/{}', 'has {} without a name'],
    ['/a/../b', 'has a segment .., which no canonical path has'],
  ])('%s is not a template: it %s', (path, message) => {
    expect(parseTemplate(path)).toBe(message);
  });
});
