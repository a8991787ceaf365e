import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { inspect, stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { roundMilliseconds } from '../../src/common/time.ts';
import type { Config } from '../../src/config/config.ts';
import type { Event, RequestEvent, RequestTrace } from '../../src/observe/events.ts';
import { createLog, type Log } from '../../src/observe/log.ts';
import { createLogTable } from '../../src/observe/log-table.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { requestEvent } from '../support/request-event.ts';
import { traceOf } from './trace.ts';

const root = resolve(import.meta.dirname, '../..');
const STARTED: Event = {
  type: 'started',
  url: 'http://a:1',
  adminUrl: 'http://a:2',
  state: 'embedded',
};
const secretTrace = (key: string) =>
  ({
    faults: [{ in: 'body', pointer: `/${key}`, rule: 'type' }],
    faultCount: 1,
    traceparent: key,
    reason: key,
    backend: { upstream: key, backend: key, isSole: false },
  }) as unknown as RequestTrace;

const COLOUR = '\u001b[';

let noColour: string | undefined;
beforeEach(() => {
  noColour = process.env.NO_COLOR;
  delete process.env.NO_COLOR;
});
afterEach(() => {
  if (noColour === undefined) delete process.env.NO_COLOR;
  else process.env.NO_COLOR = noColour;
});

function written(format: Config['log']['format'], isTTY: boolean, ...events: Event[]): string {
  const lines: string[] = [];
  const destination = { isTTY, write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', requests: true, format }, { destination });
  for (const event of events) log.observe(event);
  return lines.join('');
}

const read = (...events: Event[]) =>
  written('json', false, ...events)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the lines of the log', () => {
  test('are readable text on a terminal', () => {
    const text = written('auto', true, STARTED);
    expect(text).toContain(COLOUR);
    expect(stripVTControlCharacters(text)).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} info {2}started url=http:\/\/a:1 adminUrl=http:\/\/a:2 state=embedded\n$/,
    );
  });

  test('have no colours with NO_COLOR', () => {
    process.env.NO_COLOR = '1';
    expect(written('auto', true, STARTED)).toMatch(/^\d\d:\S+ info {2}started url=/);
  });

  test('are JSON elsewhere', () => {
    expect(JSON.parse(written('auto', false, STARTED))).toMatchObject({
      msg: 'started',
      url: 'http://a:1',
    });
  });

  test('have the configured format, wherever they go', () => {
    expect(JSON.parse(written('json', true, STARTED))).toMatchObject({ msg: 'started' });
    expect(written('pretty', false, STARTED)).toMatch(/^\d\d:\S+ info {2}started url=/);
  });

  test('of requests have faults and the trace only if there are some, and nothing else of the decision', () => {
    const request = requestEvent({ status: 400, code: 'invalid_request', step: 'contract' });
    const trace = traceOf({ path: '/pets', subject: 'key:1', message: 'm' });
    const faults = [{ in: 'body', pointer: '/name', rule: 'type' }] as const;
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const decisive = { faults, faultCount: 7, traceparent, reason: 'addresses.deny has 192.0.2.1' };
    const [bare, plain, whole] = read(
      request,
      { ...request, trace },
      { ...request, trace: { ...trace, ...decisive } },
    );
    expect(plain).toEqual({ ...bare, time: plain.time });
    expect(whole).toEqual({ ...bare, ...decisive, traceId, time: whole.time });
    expect(bare).not.toHaveProperty('trace');
  });

  test('of requests have their own values, however many requests share some of them', () => {
    const anyRequest = fc
      .record({
        id: fc.uuid(),
        method: fc.constantFrom('GET', 'POST'),
        api: fc.constantFrom(null, 'notes'),
        operation: fc.constantFrom('listPets', 'a "quoted" name'),
        status: fc.constantFrom(200, 499),
        complete: fc.boolean(),
        code: fc.constantFrom(null, 'upstream_error'),
        verdict: fc.constantFrom(null, 'admitted'),
        nearLimit: fc.boolean(),
        keyId: fc.constantFrom(null, 'key_1'),
        account: fc.constantFrom(null, 'zoë\n'),
        plan: fc.constantFrom(null, 'free'),
        address: fc.constantFrom('192.0.2.1', '2001:db8::1'),
        duration: fc.double({ min: 0, max: 1e7, noNaN: true }),
        upstream: fc.constantFrom(null, 0, 0.0004, 0.0006, 9.9999),
      })
      .map(requestEvent);
    fc.assert(
      fc.property(fc.array(anyRequest, { minLength: 2, maxLength: 20 }), (events) => {
        const own = events.map(({ type, api, step, unheeding, deprecated, ...fields }) => ({
          ...(api !== null && { api }),
          ...fields,
          duration: roundMilliseconds(fields.duration),
          upstream: roundMilliseconds(fields.upstream),
          msg: type,
        }));
        expect(read(...events)).toEqual(
          own.map((fields) => ({ ...fields, level: 30, time: expect.any(String) })),
        );
      }),
    );
  });

  test('have the stack of a bug, and no field without a value', () => {
    const bug: Event = { type: 'bug', id: 'r1', error: new Error('broken') };
    expect(written('pretty', false, bug)).toMatch(
      /^\S+ error bug id=r1\n {4}Error: broken\n {4}at .*/,
    );
    const caused = new Error('broken', { cause: new TypeError('no number') });
    expect(JSON.parse(written('json', false, { ...bug, error: caused }))).toMatchObject({
      level: 50,
      msg: 'bug',
      err: {
        type: 'Error',
        message: 'broken: no number',
        stack: expect.stringMatching(/^Error: broken\n[\s\S]*\ncaused by: TypeError: no number\n/),
      },
    });
    expect(JSON.parse(written('json', false, { ...bug, error: 5 }))).toMatchObject({
      err: { type: 'number', message: '5' },
    });
  });

  test('about refused connections are few, however many connections there are', () => {
    const refused = (address: string): Event => ({
      type: 'connection.refused',
      reason: 'address',
      address,
    });
    expect(read(...['192.0.2.1', '192.0.2.2', '192.0.2.3'].map(refused))).toMatchObject([
      { level: 40, msg: 'connection.refused', reason: 'address', address: '192.0.2.1', count: 1 },
    ]);
  });

  test('about lost webhook events have their number', () => {
    const dropped: Event = {
      type: 'webhook.delivery',
      endpoint: 'ops',
      event: 'any',
      result: 'dropped',
      count: 19,
    };
    expect(read(dropped)).toMatchObject([{ msg: 'webhook.dropped', endpoint: 'ops', times: 19 }]);
  });

  test('about unwritten last uses come once a minute, and not with each try', () => {
    const failed: Event = { type: 'last_used.write_failed', error: new Error('full') };
    expect(read(failed, failed)).toMatchObject([{ msg: 'last_used.write_failed' }]);
  });

  test('about connections that make room are few, however many searches there are', () => {
    const ended: Event = { type: 'connection.ended', withKey: 1, withoutKey: 99 };
    expect(read(ended, ended, ended)).toMatchObject([
      { level: 40, msg: 'connection.ended', withKey: 1, withoutKey: 99, count: 1 },
    ]);
  });

  test('of backends name the upstream in a field of its own, and an error once', () => {
    const refused = new Error('connect ECONNREFUSED 192.0.2.1:3000');
    const error = new Error(refused.message, {
      cause: Object.assign(refused, { code: 'ECONNREFUSED' }),
    });
    const backend = { upstream: 'stock', backend: '192.0.2.1:3000' };
    const [down, retry, back] = read(
      { type: 'upstream.down', ...backend, reason: 'unreachable', error },
      { type: 'retry', id: 'r1', ...backend, error },
      { type: 'upstream.up', ...backend, duration: 250 },
    );
    const named = { upstreamName: 'stock', backend: '192.0.2.1:3000' };
    expect(down).toEqual(
      expect.objectContaining({ ...named, reason: 'unreachable', error: refused.message }),
    );
    expect(retry).toEqual(expect.objectContaining({ ...named, reason: refused.message }));
    expect(back).toEqual(expect.objectContaining({ ...named, duration: 250 }));
    const bad = Object.assign(new Error('untrusted issuer'), { code: 'SELF_SIGNED' });
    const coded = new Error(bad.message, { cause: bad });
    expect(read({ type: 'retry', id: 'r1', ...backend, error: coded })).toMatchObject([
      { reason: 'untrusted issuer (SELF_SIGNED)' },
    ]);
    for (const line of [down, retry, back]) expect(line).not.toHaveProperty('upstream');
  });

  test('omit events of each request that are metrics', () => {
    const events: Event[] = [
      { type: 'state.responded', duration: 1 },
      { type: 'state.local_mode', policy: 'local' },
      { type: 'key.retiring', id: 'r1', keyId: 'k1', plan: 'free' },
    ];
    expect(written('json', false, ...events)).toBe('');
  });

  test('have only fields that the row of the event names', () => {
    const unnamed = 'a secret';
    const eventOf = (type: string, result: string) =>
      new Proxy({ type, result, trace: undefined, unnamed } as object, {
        get: (own, name) => (name in own ? Reflect.get(own, name) : 1),
      }) as Event;
    const leaking = Object.entries(createLogTable()).filter(([type, row]) =>
      ['delivered', 'dropped'].some((result) =>
        inspect(row(eventOf(type, result))).includes(unnamed),
      ),
    );
    expect(leaking.map(([type]) => type)).toEqual([]);
  });

  test('name no secret: a key in any field of any event is masked', () => {
    const key = makeSecret('live');
    const eventOf = (type: string, result: string) =>
      new Proxy(
        {
          type,
          result,
          operations: [key],
          problems: [key],
          error: new Error(`refused ${key}`),
        } as object,
        {
          get: (own, name) =>
            name in own ? Reflect.get(own, name) : name === 'trace' ? secretTrace(key) : key,
        },
      ) as Event;
    for (const type of Object.keys(createLogTable())) {
      for (const result of ['lost', 'dropped'])
        expect([type, written('json', false, eventOf(type, result)).includes(key)]).toEqual([
          type,
          false,
        ]);
    }
  });

  test('never let a client control the terminal', () => {
    const evil = '\u001b[2J\u009b2J\u202e';
    const text = written(
      'pretty',
      false,
      { type: 'reload.failed', reason: evil, problems: [evil] },
      { type: 'bug', id: 'r1', error: new Error(evil) },
    );
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });
});

describe('standard output', () => {
  /** Runs `work(log, events)` in a process, and returns how it ended and the lines. */
  function inProcess(work: string): {
    signal: string | null;
    lines: { msg: string; id?: string }[];
  } {
    const [log, events] = ['src/observe/log.ts', 'test/support/request-event.ts'].map((file) =>
      resolve(root, file),
    );
    const script = `import { createLog } from '${log}';
      import { requestEvent } from '${events}';
      const log = createLog({ level: 'info', requests: true, format: 'json' });
      const observe = (id) => log.observe(requestEvent({ id: String(id), status: 200 }));
      ${work}`;
    const flags = [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      script,
    ];
    const { stdout, stderr, signal } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
    expect(stderr).toBe('');
    const lines = stdout.split('\n').slice(0, -1);
    return { signal, lines: lines.map((line) => JSON.parse(line)) };
  }

  test('has all lines in order when the process exits', () => {
    const { lines } = inProcess('for (let id = 0; id < 1_000; id++) observe(id); process.exit();');
    expect(lines.map(({ id }) => id)).toEqual(Array.from({ length: 1_000 }, (_, id) => `${id}`));
  });

  test('has the line of a bug, and those before it, when the process is killed', () => {
    const bug = `log.observe({ type: 'bug', id: '2', error: new Error('broken') });`;
    const { lines, signal } = inProcess(
      `observe(1); ${bug} observe(3); process.kill(process.pid, 'SIGKILL');`,
    );
    expect(signal).toBe('SIGKILL');
    expect(lines.map(({ id }) => id)).toEqual(['1', '2']);
  });

  test('has the lines of a process that continues', () => {
    const { lines } = inProcess(
      `observe(1); setTimeout(() => process.kill(process.pid, 'SIGKILL'), 100);`,
    );
    expect(lines).toMatchObject([{ id: '1', msg: 'request' }]);
  });
});

describe('repeated refusals', () => {
  let lines: { status: number; code: string; count?: number; id: string }[];
  let log: Log;
  beforeEach(() => {
    jest.useFakeTimers();
    lines = [];
    const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
    log = createLog({ level: 'info', requests: true, format: 'json' }, { destination });
  });
  afterEach(() => {
    log.close();
    jest.useRealTimers();
  });

  const refused = (given: Partial<RequestEvent> = {}) =>
    requestEvent({
      status: 401,
      code: 'invalid_api_key',
      keyId: null,
      address: '192.0.2.1',
      ...given,
    });
  function linesOf(times: number, event: RequestEvent) {
    for (let i = 0; i < times; i++) log.observe(event);
    return lines.splice(0);
  }
  async function pass(milliseconds: number) {
    await jest.advanceTimersByTimeAsync(milliseconds);
    return lines.splice(0);
  }

  test.each<[number, string, string | null, RequestEvent['step']]>([
    [401, 'invalid_api_key', null, 'authenticate'],
    [403, 'key_banned', 'key_1', 'admit'],
    [429, 'rate_limit_exceeded', 'key_1', 'admit'],
    [400, 'malformed_request', null, 'http'],
  ])(
    'with %i %s have ten lines, and then one a second with their count',
    async (status, code, keyId, step) => {
      const event = refused({ status, code, keyId, step });
      const first = linesOf(1_000, event);
      expect(first).toHaveLength(10);
      for (const line of first) expect(line).not.toHaveProperty('count');
      expect(await pass(500)).toEqual([]);
      expect(linesOf(500, event)).toEqual([]);
      expect(await pass(600)).toMatchObject([{ status, code, count: 1_490 }]);
      expect(linesOf(3, event)).toEqual([]);
      expect(await pass(1_100)).toMatchObject([{ count: 3 }]);
      expect(await pass(60_000)).toEqual([]);
      expect(linesOf(11, event)).toHaveLength(10);
    },
  );

  test('leave no timer once all of them are written, and have their last count when the log is closed', async () => {
    linesOf(12, refused());
    await pass(1_100);
    expect(jest.getTimerCount()).toBe(0);
    linesOf(4, refused({ id: 'r9' }));
    log.close();
    expect(linesOf(0, refused())).toMatchObject([{ id: 'r9', count: 4 }]);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('are those of one code and one key or address; an IPv6 /64 is one address', () => {
    linesOf(20, refused());
    for (const other of [{ address: '192.0.2.2' }, { keyId: 'key_2' }, { code: 'missing_api_key' }])
      expect(linesOf(1, refused(other))).toHaveLength(1);
    expect(linesOf(10, refused({ address: '2001:db8::1' }))).toHaveLength(10);
    expect(linesOf(1, refused({ address: '2001:db8::2' }))).toEqual([]);
  });

  test.each([200, 400, 404, 500, 503])('of admitted requests are always logged: %i', (status) => {
    const code = status === 200 ? null : 'a_code';
    const event = refused({ status, code, step: status === 200 ? null : 'contract' });
    expect(linesOf(50, event)).toHaveLength(50);
  });
});
