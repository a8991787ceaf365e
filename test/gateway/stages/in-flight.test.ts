import { expect, test } from '@jest/globals';
import { Outage } from '../../../src/common/errors/outage.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { createFlights, createInFlight } from '../../../src/gateway/stages/in-flight.ts';
import { type Admission, type Readings, remainingIn } from '../../../src/limits/admission.ts';
import { exactly, type Plan } from '../../../src/limits/plans.ts';
import { looseCall } from '../../support/call.ts';
import { admittedClient, exchangeOf, knownClient } from '../../support/exchange.ts';
import { ESCALATION, limits, MINUTE, window } from '../../support/limits.ts';

const free: Plan = { name: 'free', count: 'key', windows: [window(60, MINUTE)] };
const plansWith = (plan: Partial<Plan>) => ({
  plans: new Map([['free', { ...free, ...plan }]]),
  escalation: null,
  accounts: new Map(),
});
const quota = (remaining: number): Readings => ({
  readings: [{ window: window(60, MINUTE), used: 60 - remaining, resetAt: 1 }],
  now: 0,
});

function flying({ look = async () => quota(1) }: { look?: () => Promise<Readings> } = {}) {
  let looks = 0;
  const admitted: string[] = [];
  const flights = createFlights();
  const stage = createInFlight({
    plans: plansWith({ concurrency: 2 }),
    flights,
    state: {
      look() {
        looks++;
        return look() as Promise<Admission>;
      },
      strike: () => null,
    },
    judge: () => admittedClient(),
    admit(exchange) {
      admitted.push(exchange.id);
      return admittedClient();
    },
  });
  const send = (given: Parameters<typeof knownClient>[0] = {}) => {
    const { call } = looseCall('GET');
    const exchange = exchangeOf('GET', {}, { call });
    return {
      call,
      exchange,
      answer: stage(exchange, knownClient({ concurrency: 2, ...given }), 1),
    };
  };
  return { flights, send, admitted, looks: () => looks };
}

test('without a limit of the plan it is the admission itself', () => {
  const parts = {
    flights: createFlights(),
    state: { look: () => Promise.reject(), strike: () => null },
    judge: () => admittedClient(),
    admit: () => admittedClient(),
  };
  expect(createInFlight({ ...parts, plans: plansWith({}) })).toBe(parts.admit);
  expect(createInFlight({ ...parts, plans: plansWith({ concurrency: 1 }) })).not.toBe(parts.admit);
  const ofAccount = { ...plansWith({}), concurrencies: new Map([['acme', 1]]) };
  expect(createInFlight({ ...parts, plans: ofAccount })).not.toBe(parts.admit);
});

test('the plan limits concurrent requests, and the next continues when one has ended in any way', async () => {
  const { flights, send, admitted } = flying();
  const [first, second] = [send(), send()];
  const third = await send().answer;
  expect(third).toBeInstanceOf(Refusal);
  expect(third).toMatchObject({
    code: 'too_many_in_flight',
    status: 429,
    headers: ['Retry-After', '1'],
  });
  expect((third as Refusal).message).toContain('Too many open requests (limit 2 for this key).');
  expect(flights.of('key:key_1')).toBe(2);
  first.call.finish(false);
  expect(flights.of('key:key_1')).toBe(1);
  expect(await send().answer).not.toBeInstanceOf(Refusal);
  second.call.finish(true);
  expect(await send().answer).not.toBeInstanceOf(Refusal);
  expect(admitted).toHaveLength(4);
});

test('each key is counted separately, an account as one, and clients without a limit are not counted', async () => {
  const { flights, send } = flying();
  for (const keyId of ['a', 'b']) {
    for (let i = 0; i < 2; i++)
      expect(await send({ subject: `key:${keyId}` }).answer).not.toBeInstanceOf(Refusal);
  }
  for (let i = 0; i < 5; i++)
    expect(await send({ concurrency: null }).answer).not.toBeInstanceOf(Refusal);
  expect(flights.of('key:key_1')).toBe(0);
  const account = { subject: 'account:free:acme', concurrency: 1 };
  await send(account).answer;
  expect(((await send(account).answer) as Refusal).message).toContain(
    '(limit 1 for all keys of this account)',
  );
});

test('a client that left before is not counted, because it does not end again', async () => {
  const { flights, send, admitted } = flying();
  for (let i = 0; i < 3; i++) {
    const { call } = looseCall('GET');
    call.finish(true);
    const stage = createInFlight({
      plans: plansWith({ concurrency: 1 }),
      flights,
      state: { look: () => Promise.reject(), strike: () => null },
      judge: () => admittedClient(),
      admit: () => admittedClient(),
    });
    expect(
      await stage(exchangeOf('GET', {}, { call }), knownClient({ concurrency: 1 }), 1),
    ).not.toBeInstanceOf(Refusal);
  }
  expect(flights.of('key:key_1')).toBe(0);
  expect(await send().answer).not.toBeInstanceOf(Refusal);
  expect(admitted).toHaveLength(1);
});

test('a refused request has the quota of the last request of its key, without a query of the state', async () => {
  const { send, looks } = flying();
  send();
  const last = send();
  last.exchange.usage = quota(57);
  last.exchange.admittedAt = performance.now();
  const { exchange, answer: response } = send();
  expect(response).toBeInstanceOf(Refusal);
  expect(exchange.usage).toBe(last.exchange.usage);
  expect(looks()).toBe(0);
});

test('if the quota is unknown or old, one query serves all requests that are refused within a second', async () => {
  const { send, looks } = flying();
  send();
  const last = send();
  for (const stale of [null, quota(57)]) {
    last.exchange.usage = stale;
    last.exchange.admittedAt = performance.now() - 1_001;
    const refused = [send(), send(), send()];
    for (const { answer: response } of refused) expect(await response).toBeInstanceOf(Refusal);
    for (const { exchange } of refused) expect(remainingIn(exchange.usage!.readings[0]!)).toBe(1);
    expect(send().answer).toBeInstanceOf(Refusal);
    expect(looks()).toBe(1);
  }
});

test('an unavailable state is an outage if no quota is known, and the next request asks again', async () => {
  let isDown = true;
  const { send, looks } = flying({
    look: async () => {
      if (isDown) throw new Outage('state_unavailable');
      return quota(3);
    },
  });
  send();
  send();
  await expect(send().answer).rejects.toMatchObject({ code: 'state_unavailable' });
  isDown = false;
  expect(await send().answer).toBeInstanceOf(Refusal);
  expect(looks()).toBe(2);
});

test('in an outage a refused request has the quota that was known last', async () => {
  const { send } = flying({ look: () => Promise.reject(new Outage('state_unavailable')) });
  send();
  const last = send();
  last.exchange.usage = quota(57);
  last.exchange.admittedAt = performance.now() - 1_001;
  const { exchange, answer } = send();
  expect(await answer).toMatchObject({ code: 'too_many_in_flight' });
  expect(exchange.usage).toBe(last.exchange.usage);
});

test('more refusals before Retry-After than the key has workers are strikes, and a ban is returned as such', async () => {
  let strikes = 0;
  const banned = { verdict: 'banned', ...quota(0) } as Admission;
  const judged: Admission[] = [];
  const stage = createInFlight({
    plans: plansWith({ concurrency: 1 }),
    flights: createFlights(),
    state: {
      look: async () => quota(1) as Admission,
      strike: () => (++strikes < 3 ? null : banned),
    },
    judge(_exchange, _client, admission) {
      judged.push(admission);
      return new Refusal('key_banned', {});
    },
    admit: () => admittedClient(),
  });
  const limited = limits([window(60, MINUTE)], {
    ...ESCALATION,
    ...exactly(5),
    grace: 0,
  });
  const client = knownClient({ concurrency: 1, limits: limited });
  const send = () => stage(exchangeOf('GET', {}, { call: looseCall('GET').call }), client, 1);
  await send();
  const free = await Promise.all(Array.from({ length: 5 }, send));
  expect(free.map((refusal) => (refusal as Refusal).code)).toEqual(
    new Array(5).fill('too_many_in_flight'),
  );
  expect(strikes).toBe(0);
  // A wait lasts a second, and a slow machine may begin another one.
  while (judged.length === 0) await Promise.all(Array.from({ length: 20 }, send));
  expect(judged[0]).toBe(banned);
});

test('refusals of a key that is never banned are never strikes', async () => {
  const { send } = flying();
  send();
  send();
  for (let i = 0; i < 300; i++)
    expect(await send().answer).toMatchObject({ code: 'too_many_in_flight' });
});
