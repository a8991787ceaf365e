import { describe, expect, test } from '@jest/globals';
import { type ContractError, formatProblems } from '../src/index.ts';
import { done, json, load, notesOf, problemsOf, ref, taking } from './documents.ts';

const wrong = (keyword: string) => ({ [keyword]: -1 });
const response = (schema: object) => ({ 200: { description: 'Done.', ...json(schema) } });

const off = { responses: 'off' } as const;

describe('while answers are not checked', () => {
  test('mistakes that only they can meet, or no request, are notes', () => {
    const contract = load(
      {
        '/a': {
          post: {
            operationId: 'a',
            responses: { ...response(ref('Reply')), nonsense: { description: 'None.' } },
            callbacks: { back: { '{$url}': { get: { responses: response(wrong('maxItems')) } } } },
          },
        },
      },
      { schemas: { Reply: wrong('minLength'), Unused: wrong('maxLength'), Lost: ref('Nowhere') } },
      off,
    );
    expect(notesOf(contract)).toEqual([
      'must be a status such as 200, a range such as 2XX, or default',
      'callbacks are ignored: they are requests of the service, not to it',
      'must be a whole number, 0 or more',
      'must be a whole number, 0 or more',
      '#/components/schemas/Nowhere does not exist',
    ]);
  });

  test.each<[string, object]>([
    ['a parameter', { parameters: [{ name: 'q', in: 'query', schema: ref('Wrong') }] }],
    ['a body', { requestBody: json(ref('Wrong')) }],
    ['another schema', { requestBody: json({ properties: { a: { items: ref('Between') } } }) }],
  ])('a mistake that %s leads to is one', (_what, operation) => {
    const all = {
      Between: { allOf: [ref('Wrong')] },
      Wrong: wrong('minLength'),
    };
    const paths = {
      '/': { post: { operationId: 'a', responses: response(ref('Wrong')), ...operation } },
    };
    expect(problemsOf(() => load(paths, { schemas: all }, off))).toEqual([
      expect.stringMatching(/Wrong\/minLength: must be a whole number/),
    ]);
  });

  test.each<[string, object]>([
    [
      'the mapping of a discriminator',
      { discriminator: { propertyName: 'kind', mapping: { wrong: 'Wrong' } } },
    ],
    ['an heir', { discriminator: { propertyName: 'kind' } }],
  ])(
    'a mistake in a schema that only %s has is a note, because no request is held against it',
    (_what, schema) => {
      const schemas = { Parent: schema, Wrong: { ...wrong('minLength'), allOf: [ref('Parent')] } };
      const paths = {
        '/': { post: { operationId: 'a', requestBody: json(ref('Parent')), responses: done } },
      };
      expect(notesOf(load(paths, { schemas }, off))).toContain('must be a whole number, 0 or more');
    },
  );

  test('a mistake of the operation or the document itself is one', () => {
    const parameters = [{ name: 'q', in: 'nowhere', schema: {} }];
    const paths = {
      '/a': { parameters, get: { operationId: 'a', 'x-try-it': -1, responses: done } },
      '/b': { get: { operationId: 'a', responses: done }, put: 1 },
      c: { get: { operationId: 'c', responses: done } },
      '/d': { get: [] },
    };
    expect(
      problemsOf(() => load(paths, { schemas: 1 }, off)).map((problem) =>
        problem.replace(/^\S+ /, ''),
      ),
    ).toEqual([
      '/paths/~1a/parameters/0/in: must be path, query, header or cookie',
      '/paths/~1a/get/x-try-it: must be true or false',
      '/paths/~1b/get/operationId: a is the operationId of GET /a too',
      '/paths/~1b/put: must be an object',
      '/paths/c: the path c must begin with /',
      '/paths/~1d/get: must be an object',
      '/components/schemas: must be an object',
    ]);
  });
});

test('an operation that refers to a missing file is one mistake', () => {
  const operations = Array.from({ length: 12 }, (_, i) => [
    `/a/{x}/${i}`,
    { get: { $ref: './get.yaml' } },
  ]);
  const problems = problemsOf(() => load(Object.fromEntries(operations)));
  expect(problems).toHaveLength(12);
  try {
    load(Object.fromEntries(operations));
  } catch (error) {
    expect((error as ContractError).message).toMatch(
      /openapi\.yaml:10:5 \/paths\/~1a~1\{x\}~10\/get\/\$ref: \.\/get\.yaml cannot be read \(ENOENT\) \(12 times; this is the first\)$/,
    );
  }
  expect.assertions(2);
});

test('a mistake reports the notes as well', () => {
  const paths = { '/': { get: { operationId: 'a', responses: {} } }, b: {} };
  try {
    load(paths, { schemas: { A: { format: 'odd' } } });
  } catch (error) {
    const { problems, notes } = error as ContractError;
    expect(problems.map(({ message }) => message)).toEqual([
      'must have at least one response',
      'the path b must begin with /',
    ]);
    expect(notes.map(({ message }) => message)).toEqual([
      'format odd is not known: it is not enforced',
    ]);
  }
  expect.assertions(2);
});

test('a reference that cannot be decoded leads nowhere', () => {
  expect(problemsOf(() => taking(json({ $ref: '#/components/%zz' }).content))).toEqual([
    expect.stringContaining('#/components/%zz is not a valid reference'),
  ]);
});

test('equal messages beyond a number are one line', () => {
  const problem = (line: number, message: string) => ({
    file: 'a.yaml',
    place: `${line}:1`,
    message,
  });
  const problems = [problem(1, 'x'), problem(2, 'y'), problem(3, 'x'), problem(4, 'x')];
  expect(formatProblems(problems, 2)).toEqual([
    'a.yaml:1:1: x (3 times; this is the first)',
    'a.yaml:2:1: y',
  ]);
  expect(formatProblems(problems)).toHaveLength(4);
});
