import { afterEach, describe, expect, test } from '@jest/globals';
import { WireError } from '@storegate/http1';
import { type Bodies, createBodies } from '../../../src/gateway/wire/bodies.ts';
import { ClientAbort } from '../../../src/gateway/wire/client-abort.ts';
import { looseCall } from '../../support/call.ts';
import { exchangeOf } from '../../support/exchange.ts';
import { until } from '../../support/until.ts';

const MOST = 1_000;
let bodies: Bodies;
afterEach(() => bodies.close());

function open({ budget = 8 * MOST, minRate = 0, every = 5_000 } = {}): Bodies {
  bodies = createBodies({ budget, minRate, every });
  return bodies;
}

function begun(member = 'acme', group = 'free', weight = 1) {
  const { call } = looseCall('POST', { 'Transfer-Encoding': 'chunked' });
  const { head } = exchangeOf('POST', {}, { call });
  const read = bodies.read({ call, head }, MOST, { group, weight, member });
  read.catch(() => {});
  return {
    read,
    send: (size: number) => call.takeBody(Buffer.alloc(size, 'x')),
    end: () => call.endBody(),
    fail: (error: Error) => call.failBody(error),
    responded: () => call.finish(false),
  };
}

const held = (bytes: number) =>
  until(`${bytes} bytes are held`, () => bodies.budget.held === bytes);

describe('a body', () => {
  test('is read whole, and its bytes are reserved until its request is answered', async () => {
    open();
    const { read, send, end, responded: answered } = begun();
    send(300);
    await held(300);
    end();
    expect((await read)?.length).toBe(300);
    expect(bodies.budget.held).toBe(300);
    answered();
    expect(bodies.budget.held).toBe(0);
  });

  test('that is too large is refused, and its bytes are released', async () => {
    open();
    const { read, send, responded: answered } = begun();
    send(MOST);
    send(1);
    await expect(read).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(bodies.budget.held).toBe(0);
    answered();
    expect(bodies.budget.held).toBe(0);
  });

  test('that is truncated means that its client has left', async () => {
    open();
    const { read, send, fail, responded: answered } = begun();
    send(10);
    await held(10);
    fail(new WireError('cut_off', 'aborted'));
    await expect(read).rejects.toBeInstanceOf(ClientAbort);
    answered();
    expect(bodies.budget.held).toBe(0);
  });
});

describe('all bodies together', () => {
  const busy = { code: 'gateway_busy', status: 503, headers: ['Retry-After', '1'] };

  test('never exceed the budget: the next body of the only account is asked to retry', async () => {
    open();
    const all = Array.from({ length: 8 }, () => begun());
    for (const { send } of all) send(MOST);
    expect(bodies.budget.held).toBe(8 * MOST);
    const next = begun();
    next.send(1);
    await expect(next.read).rejects.toMatchObject({ ...busy, close: true });
    expect(bodies.budget.held).toBe(8 * MOST);
    for (const { responded: answered } of [...all, next]) answered();
    expect(bodies.budget.held).toBe(0);
  });

  test('give way to an account that holds less: the body that has stood still for the longest time is asked to retry', async () => {
    open();
    const all = Array.from({ length: 8 }, () => begun());
    for (const { send } of all) send(MOST - 1);
    for (const [i, { send }] of all.entries()) if (i !== 3) send(1);
    const other = begun('other');
    other.send(MOST);
    await expect(all[3]!.read).rejects.toMatchObject({ ...busy, close: true });
    other.end();
    expect((await other.read)?.length).toBe(MOST);
    all[0]!.end();
    expect((await all[0]!.read)?.length).toBe(MOST);
  });

  test('that are whole are in use: no other evicts them, and they leave room for others', async () => {
    open();
    const whole = Array.from({ length: 8 }, (_, i) => begun(`${i}`));
    for (const { send, end } of whole) {
      send(MOST);
      end();
    }
    const results = await Promise.allSettled(whole.map(({ read }) => read));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
    expect(results.at(-1)).toMatchObject({ reason: { ...busy, close: false } });
    expect(bodies.budget.held).toBe(5 * MOST);
    const paid = begun('paid', 'business', 8);
    paid.send(MOST);
    paid.end();
    expect((await paid.read)?.length).toBe(MOST);
    whole[0]!.responded();
    expect(bodies.budget.held).toBe(5 * MOST);
  });

  test('are refused before they are read if their declared length could not be in use', async () => {
    open();
    const whole = Array.from({ length: 4 }, () => begun());
    for (const { send, end } of whole) {
      send(MOST);
      end();
    }
    await Promise.all(whole.map(({ read }) => read));
    const { call } = looseCall('POST', { 'Content-Length': `${MOST}` });
    const owner = { group: 'free', weight: 1, member: 'acme' };
    await expect(
      bodies.read({ call, head: exchangeOf('POST', {}, { call }).head }, MOST, owner),
    ).rejects.toMatchObject(busy);
    expect(call.bodyBytes).toBe(0);
    for (const { responded: answered } of whole) answered();
  });

  test('evicted by the hundred are refused a few in each turn of the event loop, and their memory is free at once', async () => {
    open();
    const many = Array.from({ length: 800 }, (_, i) => begun(`${i}`));
    for (const { send } of many) send(10);
    let refused = 0;
    for (const { read } of many) read.catch(() => refused++);
    const paid = begun('paid', 'business', 8);
    paid.send(MOST);
    paid.end();
    expect(bodies.budget.held).toBe(8 * MOST);
    expect((await paid.read)?.length).toBe(MOST);
    const seen: number[] = [];
    while (refused < 100) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push(refused);
    }
    expect(seen.slice(0, 3)).toEqual([32, 64, 96]);
  });

  test('hold no more than their declared length', () => {
    open();
    const { call } = looseCall('POST', { 'Content-Length': '300' });
    const read = bodies.read(exchangeOf('POST', {}, { call }), MOST, {
      group: 'free',
      weight: 1,
      member: 'acme',
    });
    read.catch(() => {});
    for (let i = 0; i < 3; i++) call.takeBody(Buffer.alloc(100, 'x'));
    expect(bodies.budget.held).toBe(300);
    call.finish(true);
    expect(bodies.budget.held).toBe(0);
  });

  test('hold nothing after their response has ended, though more bytes arrive', () => {
    open();
    const { send, end, responded: answered } = begun();
    send(10);
    answered();
    send(10);
    end();
    expect(bodies.budget.held).toBe(0);
  });
});

describe('a body that arrives too slowly', () => {
  test('is refused with 408 and the minimum rate', async () => {
    open({ minRate: 1_000_000, every: 20 });
    const { read, send } = begun();
    send(1);
    await expect(read).rejects.toMatchObject({
      code: 'request_timeout',
      message:
        'The request body arrived at less than 1000000 bytes per second. Send it without pauses.',
    });
    expect(bodies.budget.held).toBe(0);
  });

  test('does not include a complete one that waits for its response', async () => {
    open({ minRate: 1_000_000, every: 5 });
    const { read, send, end } = begun();
    send(1);
    end();
    await read;
    const other = begun();
    await expect(other.read).rejects.toMatchObject({ code: 'request_timeout' });
    expect(bodies.budget.held).toBe(1);
  });
});
