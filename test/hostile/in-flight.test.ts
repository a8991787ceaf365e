import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { EMPTY_LIST } from './recording-backend.ts';
import { PET, Stand } from './stand.ts';
import type { Wire } from './wire.ts';

const plans = 'plans: { free: { windows: [{ limit: 1000, per: minute }], concurrency: 1 } }\n';
const HASTY =
  'upstream: { headersTimeout: 300ms, bodyTimeout: 300ms }\nhttp: { headersTimeout: 1s, requestTimeout: 1s, responseWriteTimeout: 300ms }';

let patient: Stand;
let hasty: Stand;
let stand: Stand;
beforeAll(async () => {
  patient = await Stand.start({ plans });
  hasty = await Stand.start({ plans, settings: HASTY });
});
afterAll(async () => {
  await patient.stop();
  await hasty.stop();
});
beforeEach(() => {
  stand = patient;
  for (const { backend } of [patient, hasty])
    backend.respond = (socket) => void socket.write(EMPTY_LIST);
});

/** Of all requests: `GET /usage` has those of the key, but less often. */
const inFlight = async () => {
  const { text } = await stand.gateway.admin.get('/metrics');
  return Number(/^storegate_requests_in_flight (\d+)$/m.exec(text)?.[1]);
};

const backend = (bytes: string, end: boolean) => () => {
  stand.backend.respond = (socket) => {
    socket.write(bytes);
    if (end) socket.end();
  };
};
const hangs = backend('', false);
const leavesInBody = async (wire: Wire) => {
  expect((await wire.answer()).status).toBe(100);
  wire.send('{"name":').close();
};
const leavesTheBackend = async (wire: Wire) => {
  const before = stand.backend.requests.length;
  wire.send(stand.request('GET /pets'));
  await until('the backend has it', () => stand.backend.requests.length > before);
  wire.close();
};
const answered = async (wire: Wire) => void (await wire.answer());
const cutOff = async (wire: Wire) => void (await wire.ended());

describe('a request of a key with one slot makes room for the next, however it ends:', () => {
  type Case = [
    what: string,
    bytes: () => string,
    end: (wire: Wire) => Promise<void>,
    prepare?: () => void,
  ];

  async function endOne(bytes: Case[1], end: Case[2], prepare: () => void): Promise<void> {
    prepare();
    const wire = await stand.connect();
    wire.send(bytes());
    await end(wire);
    wire.close();
    await until('it is not in flight any more', async () => (await inFlight()) === 0);
    stand.backend.respond = (socket) => void socket.write(EMPTY_LIST);
  }

  test.each<Case>([
    ['a good answer', () => stand.request('GET /pets'), answered],
    [
      'HEAD',
      () => stand.request('HEAD /pets'),
      async (wire) => void (await wire.answer({ head: true })),
    ],
    ['no such path', () => stand.request('GET /nowhere'), answered],
    ['another method', () => stand.request('DELETE /pets'), answered],
    ['a body that does not fit', () => stand.post(['Content-Length: 2'], '{}'), answered],
    [
      'a body of another type',
      () => stand.request('POST /pets', ['Content-Length: 1'], 'x'),
      answered,
    ],
    ['invalid chunks', () => stand.post(['Transfer-Encoding: chunked'], 'zz\r\n'), answered],
    [
      'a caller that leaves in its body',
      () => stand.post([`Content-Length: ${PET.length}`, 'Expect: 100-continue'], ''),
      leavesInBody,
    ],
    ['a caller that leaves before its answer', () => '', leavesTheBackend, hangs],
    [
      'a backend that answers garbage',
      () => stand.request('GET /pets'),
      answered,
      backend('nonsense\r\n\r\n', true),
    ],
    [
      'half an answer',
      () => stand.request('GET /pets'),
      cutOff,
      backend('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf', true),
    ],
  ])('%s', async (_what, bytes, end, prepare = () => {}) => {
    await endOne(bytes, end, prepare);
    expect((await stand.ask(stand.probe)).status).toBe(200);
  });

  test.each<Case>([
    ['a body that is too slow', () => stand.post(['Content-Length: 99'], '{'), answered],
    ['a backend that hangs', () => stand.request('GET /pets'), answered, hangs],
    [
      'an answer that drips and stops',
      () => stand.request('GET /pets'),
      cutOff,
      backend('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n', false),
    ],
    [
      'an answer that its caller does not read',
      () => stand.request('GET /pets'),
      async (wire) => {
        wire.socket.pause();
        await until('the caller is cut off', async () => (await inFlight()) === 0);
        wire.close();
      },
      () => {
        stand.backend.respond = (socket) =>
          void socket.write(
            `HTTP/1.1 200 OK\r\nContent-Length: ${1 << 25}\r\n\r\n${'x'.repeat(1 << 25)}`,
          );
      },
    ],
  ])('%s', async (_what, bytes, end, prepare = () => {}) => {
    stand = hasty;
    await endOne(bytes, end, prepare);
    // The deadlines that ended it also apply to the next request, on a busy machine.
    await until('the next is answered', async () => (await stand.ask(stand.probe)).status === 200);
  });
});

test('requests of one connection are in flight one after the other, however many are sent at once', async () => {
  const wire = await stand.connect();
  wire.send(stand.probe.repeat(20));
  for (let i = 0; i < 20; i++) expect((await wire.answer()).status).toBe(200);
  wire.close();
});

test('a flood beyond the limit reaches neither the backend nor a window', async () => {
  const used = async () =>
    JSON.parse((await stand.ask(stand.request('GET /usage'))).body).windows[0].used;
  const before = await used();
  const answers: (() => void)[] = [];
  stand.backend.respond = (socket) => void answers.push(() => void socket.write(EMPTY_LIST));
  const first = await stand.connect();
  first.send(stand.probe);
  await until('the backend has it', () => answers.length === 1);
  const statuses: string[] = [];
  const wires = await Promise.all(
    Array.from({ length: 20 }, (_, i) => stand.connect(`127.0.0.${2 + i}`)),
  );
  for (const wire of wires) wire.send(stand.probe.repeat(20));
  for (const wire of wires) {
    for (let i = 0; i < 20; i++) {
      const { status, code, headers } = await wire.answer();
      statuses.push(`${status} ${code} ${headers['retry-after']}`);
    }
    wire.close();
  }
  // Two hundred refusals per wait are free; test/journeys/in-flight.test.ts has the ban.
  expect(new Set(statuses.map((status) => status.split(' ')[1]))).toContain('too_many_in_flight');
  expect(
    statuses.filter((status) => !/^429 too_many_in_flight \d+$|^403 key_banned \d+$/.test(status)),
  ).toEqual([]);
  expect(answers).toHaveLength(1);
  answers[0]!();
  expect((await first.answer()).status).toBe(200);
  first.close();
  expect(await used()).toBe(before + 1);
});
