import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Fixture } from './fixture.ts';

const parameter = (name: string, place: 'query' | 'cookie', schema: object) => ({
  name,
  in: place,
  schema,
});
const DOCUMENT = {
  openapi: '3.0.3',
  info: { title: 'Hidden parameters', version: '1' },
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        parameters: [
          parameter('q', 'query', { type: 'string' }),
          parameter('limit', 'query', { type: 'integer', maximum: 9 }),
          parameter('size', 'cookie', { type: 'integer', maximum: 9 }),
        ],
        responses: { 200: { description: 'Good.' } },
      },
    },
  },
};

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({ document: DOCUMENT });
});
afterAll(() => fixture.stop());

async function ask(query: string, cookie: string) {
  const head = fixture.request(`GET /items?${query}`, [`Cookie: ${cookie}`]);
  const before = fixture.backend.requests.length;
  const { status } = await fixture.ask(head);
  return { status, forwarded: fixture.backend.requests.length - before };
}

test.each([
  ['q=a;limit=99', 'size=1'],
  ['q=a', 'size =99'],
  ['q=a', 'a=b size=99'],
])(
  'a parameter that only some servers read never reaches them: ?%s, Cookie: %s',
  async (query, cookie) => {
    expect(await ask(query, cookie)).toEqual({ status: 400, forwarded: 0 });
  },
);

test('the same characters pass as data', async () => {
  expect(await ask('q=a%3Blimit=99', 'a=b c; size=9')).toEqual({ status: 200, forwarded: 1 });
});
