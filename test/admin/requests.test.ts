import { expect, test } from '@jest/globals';
import type { Task } from '../../src/admin/call.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { requestOperations } from '../../src/admin/operations/requests.ts';
import type { Explained, ListedRequest, RequestView } from '../../src/observe/peers/requests.ts';

const ID = '01890000-0000-7000-8000-000000000000';
const LISTED: ListedRequest = {
  id: ID,
  worker: null,
  at: 1,
  method: 'GET',
  operation: 'listPets',
  status: 429,
  complete: true,
  step: 'admit',
  code: 'rate_limit_exceeded',
  message: 'The limit is reached.',
  key: { id: 'key_1', account: 'acme', plan: 'free', subject: 'key:key_1' },
  address: '127.0.0.1',
  repeated: 0,
};
const VIEW: RequestView = {
  ...LISTED,
  path: '/pets',
  reason: null,
  traceparent: null,
  decision: {
    verdict: 'limited',
    by: 'state',
    cost: 1,
    violated: 'minute',
    retryAt: 2,
    retryAfter: 1,
    strikes: 0,
    strikesToBan: 10,
    bannedUntil: null,
    banStarted: false,
    level: null,
  },
  windows: [
    {
      name: 'minute',
      kind: 'fixed',
      limit: 1,
      before: 0,
      after: 0,
      resetAt: 2,
      excess: null,
      over: 0,
    },
  ],
  faults: [],
  body: { declared: null, received: 0 },
  backend: null,
  outage: null,
  times: { authenticated: 0.1, admitted: 0.2, forwarded: null, answered: null, total: 0.3 },
};

const viewWith = (changes: object): unknown => ({ request: { ...VIEW, ...changes }, memory: null });
const ODD: readonly unknown[] = [
  null,
  1,
  [],
  {},
  { request: null },
  { request: {}, memory: null },
  viewWith({ at: 9e15 }),
  viewWith({ windows: [null] }),
  viewWith({ windows: [{ ...VIEW.windows[0], resetAt: '2026' }] }),
  viewWith({ decision: {} }),
  viewWith({ faults: [{ side: 'request', reportOnly: false, count: 1, faults: [{}] }] }),
  viewWith({ key: 'sg_live' }),
  viewWith({ step: '\u001b[2J' }),
  viewWith({ times: null }),
  { request: null, memory: { requests: 1, sample: 1, goodSince: 1e300, othersSince: 1 } },
];

function operationsWith(own: unknown, odd: unknown) {
  const answers = [
    { gateway: 'two', answer: odd },
    { gateway: 'one', answer: own },
  ];
  const peers = {
    ask: async () => ({ answers, unresponsive: ['gone'], isolated: null }),
    close: async () => {},
  };
  return requestOperations({ peers: () => peers } as unknown as AdminContext);
}

const task = { path: { id: ID }, query: {} } as unknown as Task<'explainRequest'> &
  Task<'listRequests'>;

test.each(ODD)(
  'a gateway that explains a request as %j does not affect responses of the others',
  async (odd) => {
    const own: Explained = { request: VIEW, memory: null };
    const { body } = await operationsWith(own, odd).explainRequest!(task);
    expect(body).toMatchObject({ gateway: 'one', id: ID });
  },
);

test('names gateways with an invalid response if no gateway has the request', async () => {
  const own: Explained = { request: null, memory: null };
  await expect(operationsWith(own, {}).explainRequest!(task)).rejects.toThrow(
    'Did not answer: gone, two.',
  );
});

test.each([null, {}, [null], [{ ...LISTED, at: 'now' }], [{ ...LISTED, key: { id: 1 } }]])(
  'a gateway that lists %j is reported as unresponsive',
  async (odd) => {
    const { body } = await operationsWith([LISTED], odd).listRequests!(task);
    expect(body).toMatchObject({
      requests: [{ id: ID, gateway: 'one' }],
      unresponsive: ['gone', 'two'],
    });
  },
);

test('filters requests of gateways that do not know periods, and names the next page', async () => {
  const idOf = (at: number) => ID.slice(0, -1) + at;
  const listed = [9, 8, 7, 6].map((at) => ({ ...LISTED, at, id: idOf(at) }));
  const { listRequests } = operationsWith(listed, []);
  const ask = async (query: object) => {
    const { body } = await listRequests!({ ...task, query } as typeof task);
    return [body.requests.map(({ id }) => id), body.next];
  };
  const iso = (at: number) => new Date(at).toISOString();
  expect(await ask({ since: iso(7), until: iso(9) })).toEqual([[idOf(8), idOf(7)], null]);
  expect(await ask({ limit: 2 })).toEqual([[idOf(9), idOf(8)], `8-${idOf(8)}`]);
  expect(await ask({ limit: 2, after: `8-${idOf(8)}` })).toEqual([
    [idOf(7), idOf(6)],
    `6-${idOf(6)}`,
  ]);
  await expect(ask({ after: 'nowhere' })).rejects.toMatchObject({ code: 'invalid_value' });
});
