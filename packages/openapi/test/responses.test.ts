import { describe, expect, test } from '@jest/globals';
import { load, only, problemsOf, short } from './documents.ts';

const json = (type: string) => ({
  description: 'An answer.',
  content: { 'application/json': { schema: { type } } },
});

const operation = only(
  load({
    '/': {
      get: {
        responses: {
          200: json('integer'),
          201: { description: 'No body.' },
          204: json('integer'),
          '4XX': json('string'),
          404: json('boolean'),
          'x-other': 1,
        },
      },
    },
  }),
);

const check = (status: number, type: string | undefined, text: string) =>
  short(operation.checkResponse(status, type, new TextEncoder().encode(text)));

describe('an answer', () => {
  test.each([
    [200, 'application/json', '1'],
    [200, 'application/json; charset=utf-8', '1'],
    [201, undefined, ''],
    [204, undefined, ''],
    [404, 'application/json', 'true'],
    [400, 'application/json', '"a"'],
  ])('%d of %s with %j fits', (status, type, text) => {
    expect(check(status, type, text)).toEqual([]);
  });

  test.each([
    [200, 'application/json', '"1"', 'must be an integer'],
    [200, 'application/json', '1 2', 'has something after its end (at byte 2)'],
    [200, 'application/json', '', 'is not valid JSON: a value is expected (at byte 0)'],
    [200, 'text/plain', '1', 'must be of type application/json'],
    [200, undefined, '1', 'must be of type application/json'],
    [201, 'application/json', '1', 'no body is described for status 201'],
    [204, 'application/json', '1', 'a response of status 204 has no body'],
    [404, 'application/json', '"a"', 'must be true or false'],
    [500, 'application/json', '1', 'status 500 is not described'],
    [202, undefined, '', 'status 202 is not described'],
  ])('%d of %s with %j does not: %s', (status, type, text, fault) => {
    expect(check(status, type, text)).toEqual([fault]);
  });

  test('of any other status is the default', () => {
    const withDefault = only(load({ '/': { get: { responses: { default: json('integer') } } } }));
    expect(
      withDefault.checkResponse(599, 'application/json', new TextEncoder().encode('1')),
    ).toEqual([]);
  });
});

test.each(['20', '600', '2xx', 'ok'])('a status %s is refused', (status) => {
  const responses = { [status]: { description: 'An answer.' } };
  expect(problemsOf(() => load({ '/': { get: { responses } } }))).toEqual([
    expect.stringContaining('must be a status such as 200, a range such as 2XX, or default'),
  ]);
});
