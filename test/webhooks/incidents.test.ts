import { beforeEach, describe, expect, test } from '@jest/globals';
import { openOutbox } from '../../src/state/embedded/outbox.ts';
import { messageOf, type WebhookEvent } from '../../src/webhooks/event.ts';
import { Incidents, type Sighting } from '../../src/webhooks/incidents.ts';

const T = Date.UTC(2026, 0, 1);

const store = (isDown: boolean, at: number): Sighting => ({
  sight: 'store',
  name: 'default one:80',
  isDown,
  at,
  about: { upstream: 'default', store: 'one:80', ...(isDown && { reason: 'unreachable' }) },
});
const state = (isDown: boolean, at: number): Sighting => ({
  sight: 'state',
  name: '',
  isDown,
  at,
  about: isDown ? { policy: 'local', reason: 'gone' } : {},
});

let incidents: Incidents;
beforeEach(() => {
  incidents = new Incidents('gw-1');
});

describe('the view of the workers of one gateway', () => {
  test('is down if one is down, and up if all are up', () => {
    expect(incidents.see(store(true, T), 1)).toMatchObject({
      type: 'upstream.down',
      data: { upstream: 'default', store: 'one:80', reason: 'unreachable', gateway: 'gw-1' },
    });
    expect(incidents.see(store(true, T + 1), 2)).toBeNull();
    expect(incidents.see(store(true, T + 1), 2)).toBeNull();
    expect(incidents.see(store(false, T + 2), 1)).toBeNull();
    expect(incidents.see(store(false, T + 2), 1)).toBeNull();
    expect(incidents.see(store(false, T + 3_000), 2)).toMatchObject({
      type: 'upstream.up',
      data: { upstream: 'default', store: 'one:80', since: new Date(T).toISOString(), duration: 3_000 },
    });
    expect(incidents.see(store(false, T + 4_000), 2)).toBeNull();
  });

  test('drops a worker that ends, and stays down while another is', () => {
    incidents.see(store(true, T), 1);
    incidents.see(state(true, T), 1);
    incidents.see(state(true, T), 2);
    expect(incidents.forget(1, T + 5).map(({ type }) => type)).toEqual(['upstream.up']);
    expect(incidents.forget(1, T + 5)).toEqual([]);
    expect(incidents.forget(2, T + 6).map(({ type }) => type)).toEqual(['state.up']);
  });

  test('has one id per minute while the state is down, so that receivers can compare', () => {
    const other = new Incidents('gw-2');
    const ids = [incidents.see(state(true, T), null), other.see(state(true, T + 59_999), null)].map(
      (event) => messageOf(event!).id,
    );
    expect(ids[0]).toBe(ids[1]);
    incidents.see(state(false, T + 60_000), null);
    expect(messageOf(incidents.see(state(true, T + 60_001), null)!).id).not.toBe(ids[0]);
  });
});

test('gateways that see one backend down and up at different times send one event each, and again the next time', () => {
  const other = new Incidents('gw-2');
  const outbox = openOutbox(null);
  const sent: string[] = [];
  function send(found: WebhookEvent | null): void {
    const { once, at } = found!;
    if (outbox.add({ message: messageOf(found!), endpoints: ['a'], once, most: 10, now: at }) === 0)
      sent.push(`${found!.type} ${found!.at - T}`);
  }
  send(incidents.see(store(true, T), null));
  send(other.see(store(true, T + 3), null));
  send(incidents.see(store(false, T + 10), null));
  // The first gateway sees it fail again before the other sees it recover.
  send(incidents.see(store(true, T + 20), null));
  send(other.see(store(false, T + 25), null));
  send(incidents.see(store(false, T + 30), null));
  send(other.see(store(true, T + 40), null));
  send(other.see(store(false, T + 50), null));
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
