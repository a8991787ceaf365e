import { afterEach, describe, expect, test } from '@jest/globals';
import { WireError } from '@storegate/http1';
import { Bodies } from '../../../src/gateway/wire/bodies.ts';
import { ClientAbort } from '../../../src/gateway/wire/client-abort.ts';
import { looseCall } from '../../support/call.ts';
import { exchangeOf } from '../../support/exchange.ts';
import { until } from '../../support/until.ts';

const MOST = 1_000;
let bodies: Bodies;
afterEach(() => bodies.close());

function open({ budget = 8 * MOST, minRate = 0, every = 5_000 } = {}): Bodies {
  bodies = new Bodies({ budget, minRate, every });
  return bodies;
}

function begun(owner = 'key_1') {
  const { call } = looseCall('POST', { 'Transfer-Encoding': 'chunked' });
  const { head } = exchangeOf('POST', {}, { call });
  const read = bodies.read({ call, head }, MOST, owner);
  read.catch(() => {});
  return {
    read,
    send: (size: number) => call.takeBody(Buffer.alloc(size, 'x')),
    end: () => call.endBody(),
    fail: (error: Error) => call.failBody(error),
    answered: () => call.finish(false),
  };
}

const held = (bytes: number) => until(`${bytes} bytes are held`, () => bodies.held === bytes);

describe('a body', () => {
  test('is read whole, and its bytes are reserved until its request is answered', async () => {
    open();
    const { read, send, end, answered } = begun();
    send(300);
    await held(300);
    end();
    expect((await read)?.length).toBe(300);
    expect(bodies.held).toBe(300);
    answered();
    expect(bodies.held).toBe(0);
  });

  test('that is too large is refused, and its bytes are released', async () => {
    open();
    const { read, send, answered } = begun();
    send(MOST);
    send(1);
    await expect(read).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(bodies.held).toBe(0);
    answered();
    expect(bodies.held).toBe(0);
  });

  test('that is truncated means that its client has left', async () => {
    open();
    const { read, send, fail, answered } = begun();
    send(10);
    await held(10);
    fail(new WireError('cut_off', 'aborted'));
    await expect(read).rejects.toBeInstanceOf(ClientAbort);
    answered();
    expect(bodies.held).toBe(0);
  });
});

describe('all bodies together', () => {
  test('of one key may use a quarter of the budget: further ones are asked to retry, and other keys are not affected', async () => {
    open();
    const first = [begun(), begun()];
    for (const { send } of first) send(MOST);
    await held(2 * MOST);
    const third = begun();
    third.send(1);
    await expect(third.read).rejects.toMatchObject({
      code: 'gateway_busy',
      status: 503,
      headers: ['Retry-After', '1'],
    });
    const other = begun('key_2');
    other.send(MOST);
    other.end();
    expect((await other.read)?.length).toBe(MOST);
    first[0]!.answered();
    const again = begun();
    again.send(10);
    again.end();
    expect((await again.read)?.length).toBe(10);
  });

  test('never exceed the budget, however many keys send them', async () => {
    open();
    const all = Array.from({ length: 20 }, (_, i) => begun(`key_${i}`));
    for (const { send } of all) send(MOST);
    await held(8 * MOST);
    const refused = await Promise.allSettled(
      all.slice(8).map(({ read, end }) => {
        end();
        return read;
      }),
    );
    expect(refused.map(({ status }) => status)).toEqual(new Array(12).fill('rejected'));
    for (const { answered } of all) answered();
    expect(bodies.held).toBe(0);
  });
});

describe('a body that arrives too slowly', () => {
  test('is refused with 408 and the minimum rate', async () => {
    open({ minRate: 1_000_000, every: 20 });
    const { read, send } = begun();
    send(1);
    await expect(read).rejects.toMatchObject({
      code: 'request_timeout',
      message: 'The request body arrived at less than 1000000 bytes per second. Send it without pauses.',
    });
    expect(bodies.held).toBe(0);
  });

  test('does not include a complete one that waits for its response', async () => {
    open({ minRate: 1_000_000, every: 5 });
    const { read, send, end } = begun();
    send(1);
    end();
    await read;
    const other = begun();
    await expect(other.read).rejects.toMatchObject({ code: 'request_timeout' });
    expect(bodies.held).toBe(1);
  });
});
