import { expect, test } from '@jest/globals';
import { adminContract } from '../../src/admin/api.ts';
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
  sentPath: '/pets',
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
  const responses = [
    { gateway: 'two', response: odd },
    { gateway: 'one', response: own },
  ];
  const requested: unknown[] = [];
  const peers = {
    async ask(_question: string, argument: unknown) {
      requested.push(argument);
      return { responses, unresponsive: ['gone'], isolated: null };
    },
    close: async () => {},
  };
  return {
    asked: requested,
    ...requestOperations({ peers: () => peers } as unknown as AdminContext),
  };
}

const task = { path: { id: ID }, query: {} } as unknown as Task<'explainRequest'> &
  Task<'listRequests'>;

test.each(ODD)(
  'a gateway that explains a request as %j does not affect responses of the others',
  async (odd) => {
    const own: Explained = { request: VIEW, memory: null };
    const body = await operationsWith(own, odd).explainRequest!(task);
    expect(body).toMatchObject({ gateway: 'one', id: ID });
  },
);

test('a gateway of an earlier version explains without the path that was sent', async () => {
  const { sentPath, ...earlier } = VIEW;
  const own = { request: earlier, memory: null } as unknown as Explained;
  const body = await operationsWith(own, {}).explainRequest!(task);
  expect([sentPath, body]).toEqual(['/pets', expect.objectContaining({ sentPath: null })]);
});

test('names gateways with an invalid response if no gateway has the request', async () => {
  const own: Explained = { request: null, memory: null };
  await expect(operationsWith(own, {}).explainRequest!(task)).rejects.toThrow(
    'Did not respond: gone, two.',
  );
});

const refusalsOf = (...requests: unknown[]) => ({ requests, upTo: {} });

test.each([
  null,
  [LISTED],
  { requests: [LISTED] },
  { requests: [], upTo: { a1b2c3d4: -1 } },
  refusalsOf(null),
  refusalsOf({ ...LISTED, at: 'now' }),
  refusalsOf({ ...LISTED, key: { id: 1 } }),
])('a gateway that lists %j is reported as unresponsive', async (odd) => {
  const body = await operationsWith(refusalsOf(LISTED), odd).listRequests!(task);
  expect(body).toMatchObject({
    requests: [{ id: ID, gateway: 'one' }],
    unresponsive: ['gone', 'two'],
  });
});

test('merges the last calls of a key of all gateways, on the first page only', async () => {
  const call = { worker: null, method: 'GET', operation: 'listPets', address: '192.0.2.1' };
  const at = (time: number) => ({ ...call, at: time, status: 200, duration: 1.5 });
  const own = { ...refusalsOf(), calls: [at(3), at(1)] };
  const { listRequests } = operationsWith(own, { ...refusalsOf(), calls: [at(2)] });
  const list = async (query: object) => await listRequests!({ ...task, query } as typeof task);
  expect((await list({ key: 'key_1' })).calls).toEqual([
    { ...at(3), at: '1970-01-01T00:00:00.003Z', gateway: 'one' },
    { ...at(2), at: '1970-01-01T00:00:00.002Z', gateway: 'two' },
    { ...at(1), at: '1970-01-01T00:00:00.001Z', gateway: 'one' },
  ]);
  expect((await list({ key: 'key_1', after: `3-${ID}` })).calls).toEqual([]);
});

test('a gateway of an earlier version has no calls', async () => {
  const { listRequests } = operationsWith(refusalsOf(), refusalsOf());
  expect(await listRequests!(task)).toMatchObject({ calls: [], unresponsive: ['gone'] });
});

test('asks for a period, and names the next page', async () => {
  const idOf = (at: number) => ID.slice(0, -1) + at;
  const iso = (at: number) => new Date(at).toISOString();
  const listed = [9, 8].map((at) => ({ ...LISTED, at, id: idOf(at) }));
  const { listRequests, asked: requested } = operationsWith(refusalsOf(...listed), refusalsOf());
  const list = async (query: object) => await listRequests!({ ...task, query } as typeof task);
  expect(await list({ since: iso(7), until: iso(10) })).toMatchObject({ next: null });
  expect(requested.at(-1)).toMatchObject({ since: 7, before: { at: 10, id: '' } });
  expect(await list({ limit: 2 })).toMatchObject({ next: `8-${idOf(8)}` });
  await list({ limit: 2, after: `8-${idOf(8)}` });
  expect(requested.at(-1)).toMatchObject({ since: null, before: { at: 8, id: idOf(8) } });
  await expect(list({ after: 'nowhere' })).rejects.toMatchObject({ code: 'invalid_value' });
});

test('asks each process for what is newer, and keeps the place of silent ones', async () => {
  const [one, two] = [{ a1b2c3d4: 7, 12345678: 0 }, { e5f6a7b8: 3 }];
  const { listRequests, asked: requested } = operationsWith(
    { requests: [], upTo: one },
    { requests: [], upTo: two },
  );
  const newestFor = async (newer?: string) =>
    (await listRequests!({ ...task, query: { newer } } as typeof task)).newest;
  const newest = await newestFor();
  expect(newest!.split('.').sort()).toEqual(['12345678-0', 'a1b2c3d4-7', 'e5f6a7b8-3']);
  expect(requested.at(-1)).toMatchObject({ newer: null });
  expect((await newestFor('a1b2c3d4-5.99999999-12'))!.split('.')).toContain('99999999-12');
  expect(requested.at(-1)).toMatchObject({ newer: { a1b2c3d4: 5, 99999999: 12 } });
});

test('has no place without a gateway, and one that a call may send for any number of them', async () => {
  const none = operationsWith(null, null);
  expect((await none.listRequests!(task)).newest).toBeNull();
  const ids = Array.from({ length: 2_000 }, (_, i) => (0xf0000000 + i).toString(16));
  const upTo = Object.fromEntries(ids.map((id) => [id, 999_999_999_999_999]));
  const many = operationsWith({ requests: [], upTo }, null);
  const { newest } = await many.listRequests!(task);
  const newer = adminContract()
    .operations.find(({ id }) => id === 'listRequests')!
    .checkParameters([], `newer=${newest}`, []);
  expect(newer).toEqual([]);
});
