import { afterEach, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { openOutbox } from '../../src/records/embedded/outbox.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { Outbox } from '../../src/records/outbox.ts';
import { stateOf } from '../../src/webhooks/cursors.ts';
import { endpointsOf } from '../../src/webhooks/endpoints.ts';
import { REDETECTION_TIME } from '../../src/webhooks/incidents.ts';
import type { Webhooks } from '../../src/webhooks/webhooks.ts';
import { TestClock } from '../support/limits.ts';
import { Receiver } from '../support/receiver.ts';
import { keyRecord } from '../support/records.ts';
import { until } from '../support/until.ts';
import { settings, webhooksOf } from './webhooks.ts';

const [receiver] = endpointsOf(settings);

const time = new TestClock();
let webhooks: Webhooks;
let outbox: Outbox;
let lost = 0;
afterEach(async () => {
  await webhooks.close();
  outbox.close();
});

function open(get: (id: string) => Promise<KeyRecord | null> = async () => null): void {
  outbox = openOutbox(null);
  lost = 0;
  webhooks = webhooksOf(outbox, {
    keys: { get, async *readExpiring() {}, watch: () => () => {} },
    monotonic: time.read,
    observe: (event) => {
      if (event.type === 'webhook.delivery' && event.result === 'dropped') lost += event.count;
    },
  });
}

function useForTheFirstTime(keys: number): void {
  for (let i = 0; i < keys; i++)
    webhooks.observe({ type: 'key.first_used', keyId: `key_${i}`, at: Date.now() });
}

const waiting = async () => (await stateOf(outbox, receiver!, Date.now())).waiting;

test('thousands of events at once are all stored', async () => {
  open();
  useForTheFirstTime(5_000);
  await until('all are written', async () => (await waiting()) + lost >= 5_000);
  expect(lost).toBe(0);
});

test('other work continues while many are stored', async () => {
  open();
  useForTheFirstTime(500);
  let turns = 0;
  while ((await waiting()) < 500) {
    await new Promise((resolve) => setImmediate(resolve));
    turns++;
  }
  expect(turns).toBeGreaterThan(20);
});

test('an event has the account of its key although the first look-up of the key was late', async () => {
  let requested = 0;
  open(async () => {
    if (++requested === 1) throw new Outage('state_unavailable');
    return keyRecord({ account: 'acme' });
  });
  useForTheFirstTime(1);
  await until('it is written', async () => (await waiting()) === 1);
  const [event] = await outbox.read(0, 1);
  expect(JSON.parse(event!.body)).toMatchObject({
    data: { key: 'key_0', account: 'acme', plan: 'free' },
  });
});

test('what was delivered is noted once an outage has ended, and the next event follows', async () => {
  outbox = openOutbox(null);
  const receiver = await Receiver.start();
  let refusals = 3;
  const refusing: Outbox = {
    ...outbox,
    async move(name, from, to) {
      if (receiver.attempts.length === 1 && refusals-- > 0) throw new Outage('state_unavailable');
      return await outbox.move(name, from, to);
    },
  };
  webhooks = webhooksOf(refusing, {
    settings: { ...settings, url: receiver.url, secret: receiver.secret },
  });
  useForTheFirstTime(2);
  await until('both are delivered', () => receiver.attempts.length >= 2);
  expect(receiver.attempts.map(({ data }) => data.key).sort()).toEqual(['key_0', 'key_1']);
  await receiver.stop();
  expect(receiver.faults).toEqual([]);
});

test('an outage that only a worker saw ends after the worker', async () => {
  open();
  const about = { upstream: 'default', backend: 'one:80' };
  const sighting = {
    sight: 'backend',
    name: 'default one:80',
    isDown: true,
    at: Date.now(),
    about,
  } as const;
  webhooks.onDetection(sighting, 1);
  await until('it is stored', async () => (await waiting()) === 1);
  webhooks.observe({
    type: 'worker.ended',
    worker: 1,
    pid: 7,
    reason: 'signal SIGKILL',
    unexpected: true,
    replacedAfter: 0,
  });
  time.pass(REDETECTION_TIME);
  await until('its end is stored', async () => (await waiting()) === 2);
});
