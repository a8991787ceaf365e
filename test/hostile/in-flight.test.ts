import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { Fixture, PET } from './fixture.ts';
import { EMPTY_LIST } from './recording-backend.ts';
import type { Wire } from './wire.ts';

const plans = 'plans: { free: { windows: [{ limit: 1000, per: minute }], concurrency: 1 } }\n';
const HASTY =
  'upstream: { headersTimeout: 300ms, bodyTimeout: 300ms }\nhttp: { headersTimeout: 1s, requestTimeout: 1s, responseWriteTimeout: 300ms }';

let patient: Fixture;
let hasty: Fixture;
let fixture: Fixture;
beforeAll(async () => {
  patient = await Fixture.start({ plans });
  hasty = await Fixture.start({ plans, settings: HASTY });
});
afterAll(async () => {
  await patient.stop();
  await hasty.stop();
});
beforeEach(() => {
  fixture = patient;
  for (const { backend } of [patient, hasty])
    backend.respond = (socket) => void socket.write(EMPTY_LIST);
});

/** Of all requests: `GET /usage` has those of the key, but less often. */
const inFlight = () => fixture.metric('requests_in_flight');

const backend = (bytes: string, end: boolean) => () => {
  fixture.backend.respond = (socket) => {
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
  const before = fixture.backend.requests.length;
  wire.send(fixture.request('GET /pets'));
  await until('the backend has it', () => fixture.backend.requests.length > before);
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
    const wire = await fixture.connect();
    wire.send(bytes());
    await end(wire);
    wire.close();
    await until('it is not in flight any more', async () => (await inFlight()) === 0);
    fixture.backend.respond = (socket) => void socket.write(EMPTY_LIST);
  }

  test.each<Case>([
    ['a good answer', () => fixture.request('GET /pets'), answered],
    ['a body that does not fit', () => fixture.post(['Content-Length: 2'], '{}'), answered],
    ['invalid chunks', () => fixture.post(['Transfer-Encoding: chunked'], 'zz\r\n'), answered],
    [
      'a caller that leaves in its body',
      () => fixture.post([`Content-Length: ${PET.length}`, 'Expect: 100-continue'], ''),
      leavesInBody,
    ],
    ['a caller that leaves before its answer', () => '', leavesTheBackend, hangs],
    [
      'a backend that answers garbage',
      () => fixture.request('GET /pets'),
      answered,
      backend('nonsense\r\n\r\n', true),
    ],
    [
      'half an answer',
      () => fixture.request('GET /pets'),
      cutOff,
      backend('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf', true),
    ],
  ])('%s', async (_what, bytes, end, prepare = () => {}) => {
    await endOne(bytes, end, prepare);
    expect((await fixture.ask(fixture.probe)).status).toBe(200);
  });

  test.each<Case>([
    ['a body that is too slow', () => fixture.post(['Content-Length: 99'], '{'), answered],
    ['a backend that hangs', () => fixture.request('GET /pets'), answered, hangs],
    [
      'an answer that drips and stops',
      () => fixture.request('GET /pets'),
      cutOff,
      backend('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n', false),
    ],
    [
      'an answer that its caller does not read',
      () => fixture.request('GET /pets'),
      async (wire) => {
        wire.socket.pause();
        await until('the caller is cut off', async () => (await inFlight()) === 0);
        wire.close();
      },
      () => {
        fixture.backend.respond = (socket) =>
          void socket.write(
            `HTTP/1.1 200 OK\r\nContent-Length: ${1 << 25}\r\n\r\n${'x'.repeat(1 << 25)}`,
          );
      },
    ],
  ])('%s', async (_what, bytes, end, prepare = () => {}) => {
    fixture = hasty;
    await endOne(bytes, end, prepare);
    // The deadlines that ended it also apply to the next request, on a busy machine.
    await until(
      'the next is answered',
      async () => (await fixture.ask(fixture.probe)).status === 200,
    );
  });
});

test('a flood beyond the limit reaches neither the backend nor a window', async () => {
  const used = async () =>
    JSON.parse((await fixture.ask(fixture.request('GET /usage'))).body).windows[0].used;
  const before = await used();
  const responses: (() => void)[] = [];
  fixture.backend.respond = (socket) => void responses.push(() => void socket.write(EMPTY_LIST));
  const first = await fixture.connect();
  first.send(fixture.probe);
  await until('the backend has it', () => responses.length === 1);
  const statuses: string[] = [];
  const wires = await Promise.all(
    Array.from({ length: 20 }, (_, i) => fixture.connect(`127.0.0.${2 + i}`)),
  );
  for (const wire of wires) wire.send(fixture.probe.repeat(20));
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
  expect(responses).toHaveLength(1);
  responses[0]!();
  expect((await first.answer()).status).toBe(200);
  first.close();
  expect(await used()).toBe(before + 1);
});
