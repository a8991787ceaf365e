import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import { messageOf, type WebhookEvent } from '../../src/webhooks/event.ts';
import { createIncidents, REDETECTION_TIME, type Sighting } from '../../src/webhooks/incidents.ts';
import { TestClock } from '../support/limits.ts';

const T = Date.UTC(2026, 0, 1);

const backend = (isDown: boolean, at: number): Sighting => ({
  sight: 'backend',
  name: 'default one:80',
  isDown,
  at,
  about: { upstream: 'default', backend: 'one:80', ...(isDown && { reason: 'unreachable' }) },
});
const state = (isDown: boolean, at: number): Sighting => ({
  sight: 'state',
  name: '',
  isDown,
  at,
  about: isDown ? { policy: 'local', reason: 'gone' } : {},
});

let time: TestClock;
let incidents: ReturnType<typeof createIncidents>;
beforeEach(() => {
  time = new TestClock();
  incidents = createIncidents('gw-1', time.read);
});

describe('the view of the workers of one gateway', () => {
  test('is down if one is down, and up if all are up', () => {
    expect(incidents.see(backend(true, T), 1)).toMatchObject({
      type: 'upstream.down',
      data: { upstream: 'default', backend: 'one:80', reason: 'unreachable', gateway: 'gw-1' },
    });
    expect(incidents.see(backend(true, T + 1), 2)).toBeNull();
    expect(incidents.see(backend(true, T + 1), 2)).toBeNull();
    expect(incidents.see(backend(false, T + 2), 1)).toBeNull();
    expect(incidents.see(backend(false, T + 2), 1)).toBeNull();
    expect(incidents.see(backend(false, T + 3_000), 2)).toMatchObject({
      type: 'upstream.up',
      data: {
        upstream: 'default',
        backend: 'one:80',
        since: new Date(T).toISOString(),
        duration: 3_000,
      },
    });
    expect(incidents.see(backend(false, T + 4_000), 2)).toBeNull();
  });

  test('is up some time after the last worker that saw it down has ended', () => {
    incidents.see(backend(true, T), 1);
    incidents.see(state(true, T), 1);
    incidents.see(state(true, T), 2);
    incidents.forget(1, T + 5);
    time.pass(REDETECTION_TIME - 1);
    expect(incidents.settle()).toEqual([]);
    time.pass(1);
    expect(incidents.settle()).toMatchObject([{ type: 'upstream.up', data: { duration: 5 } }]);
    incidents.forget(2, T + 9);
    time.pass(REDETECTION_TIME);
    expect(incidents.settle()).toMatchObject([{ type: 'state.up', data: { duration: 9 } }]);
    expect(incidents.settle()).toEqual([]);
  });

  test('stays down if the replacement of a worker sees it down too', () => {
    incidents.see(backend(true, T), 1);
    incidents.forget(1, T + 5);
    time.pass(REDETECTION_TIME / 2);
    expect(incidents.see(backend(true, T + 9), 1)).toBeNull();
    time.pass(REDETECTION_TIME);
    expect(incidents.settle()).toEqual([]);
    expect(incidents.see(backend(false, T + 20), 1)).toMatchObject({
      type: 'upstream.up',
      data: { duration: 20 },
    });
  });

  test('begins once and ends once, whichever process saw it and ended', () => {
    const step = fc.record({
      process: fc.nat(2),
      what: fc.constantFrom('down', 'up', 'ends', 'settles'),
      pause: fc.nat(REDETECTION_TIME),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        incidents = createIncidents('gw-1', time.read);
        const types: string[] = [];
        const note = (...found: (WebhookEvent | null)[]) =>
          types.push(...found.filter((one) => one !== null).map(({ type }) => type));
        for (const { process, what, pause } of steps) {
          time.pass(pause);
          if (what === 'ends') incidents.forget(process, time.now);
          else if (what === 'settles') note(...incidents.settle());
          else note(incidents.see(backend(what === 'down', time.now), process));
        }
        for (const process of [0, 1, 2]) incidents.forget(process, time.now);
        time.pass(REDETECTION_TIME);
        note(...incidents.settle());
        expect(types).toEqual(types.map((_, i) => (i % 2 === 0 ? 'upstream.down' : 'upstream.up')));
        expect(types.length % 2).toBe(0);
      }),
    );
  });

  test('has another id for a second outage of the state within the minute', () => {
    const [first, second, other] = [0, 10_000, 20_000].map((after, i) => {
      const found = i === 2 ? createIncidents('gw-2') : incidents;
      const down = found.see(state(true, T + after), 1)!;
      found.see(state(false, T + after + 5_000), 1);
      return messageOf(down).id;
    });
    expect(second).not.toBe(first);
    expect(other).toBe(first);
  });

  test('has one id per minute while the state is down, so that receivers can compare', () => {
    const other = createIncidents('gw-2');
    const ids = [incidents.see(state(true, T), null), other.see(state(true, T + 59_999), null)].map(
      (event) => messageOf(event!).id,
    );
    expect(ids[0]).toBe(ids[1]);
    incidents.see(state(false, T + 60_000), null);
    expect(messageOf(incidents.see(state(true, T + 60_001), null)!).id).not.toBe(ids[0]);
  });
});

test('gateways that see one backend down and up at different times send one event each, and again the next time', () => {
  const other = createIncidents('gw-2');
  const outbox = openOutbox(null);
  const sent: string[] = [];
  function send(found: WebhookEvent | null): void {
    const { once, at } = found!;
    if (outbox.add({ message: messageOf(found!), endpoints: ['a'], once, most: 10, now: at }))
      sent.push(`${found!.type} ${found!.at - T}`);
  }
  send(incidents.see(backend(true, T), null));
  send(other.see(backend(true, T + 3), null));
  send(incidents.see(backend(false, T + 10), null));
  // The first gateway sees it fail again before the other sees it recover.
  send(incidents.see(backend(true, T + 20), null));
  send(other.see(backend(false, T + 25), null));
  send(incidents.see(backend(false, T + 30), null));
  send(other.see(backend(true, T + 40), null));
  send(other.see(backend(false, T + 50), null));
  outbox.close();
  expect(sent).toEqual([
    'upstream.down 0',
    'upstream.up 10',
    'upstream.down 20',
    'upstream.up 30',
    'upstream.down 40',
    'upstream.up 50',
  ]);
});
