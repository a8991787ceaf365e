import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Outage } from '../../src/common/errors/outage.ts';
import { type Admission, remainingIn } from '../../src/limits/admission.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import { settlementOf } from '../../src/limits/settlement.ts';
import type { Event } from '../../src/observe/events.ts';
import { createCircuitBreakers } from '../../src/state/shared/circuit-breakers.ts';
import { createStateClock } from '../../src/state/shared/clock.ts';
import type { OutageSettings } from '../../src/state/shared/remote-state.ts';
import { createSharedState } from '../../src/state/shared/shared-state.ts';
import type { StartedBan } from '../../src/state/state.ts';
import { ESCALATION, HOUR, limits, MINUTE, SECOND, TestClock, window } from '../support/limits.ts';
import { MemoryState } from '../support/memory-state.ts';
import { until } from '../support/until.ts';
import { keepsThePromisesOfState } from './contract.ts';

const TEN = limits([window(10, HOUR)], null);
const SETTINGS: OutageSettings = {
  deadline: 50,
  failureThreshold: 3,
  onOutage: 'local',
  shareRemaining: false,
  refusalCacheTtl: 5 * SECOND,
};

/** One of the gateways that share Redis. */
function openGateway(remote: MemoryState, clock: TestClock, changed: Partial<OutageSettings> = {}) {
  const settings = { ...SETTINGS, ...changed };
  const events: Event[] = [];
  const observe = (event: Event) => void events.push(event);
  const breakers = createCircuitBreakers(remote, settings, observe);
  const state = createSharedState({
    remote,
    breakers,
    bus: remote,
    settings,
    gateway: 'gateway-1',
    gateways: () => 1,
    observe,
    clock: createStateClock(clock.read),
  });
  return {
    state,
    eventCount: (type: Event['type']) => events.filter((event) => event.type === type).length,
    async close() {
      await state.close();
      breakers.close();
    },
  };
}

describe('in front of a remote that is well', () => {
  // A cached refusal reports its strike to Redis later, so nothing is cached here.
  keepsThePromisesOfState(
    async (clock) => openGateway(new MemoryState(clock), clock, { refusalCacheTtl: 0 }).state,
  );
});

describe('in front of a remote that fails', () => {
  let clock: TestClock;
  let remote: MemoryState;
  let gateway: ReturnType<typeof openGateway>;

  beforeEach(() => {
    clock = new TestClock();
    remote = new MemoryState(clock);
    gateway = openGateway(remote, clock);
  });
  afterEach(() => gateway.close());

  async function times(
    count: number,
    subject: string,
    given = TEN,
  ): Promise<Admission['verdict'][]> {
    const verdicts: Admission['verdict'][] = [];
    for (let i = 0; i < count; i++)
      verdicts.push((await gateway.state.admit(subject, given, 1)).verdict);
    return verdicts;
  }

  const admitted = (count: number) => new Array(count).fill('admitted');
  const remaining = async (subject: string) =>
    remainingIn((await remote.look(subject, TEN)).readings[0]!);
  const recovered = () =>
    until('the shard is asked again', () => gateway.eventCount('state.recovered') === 1);

  test('counting continues from the last known counts, is decided at once, and is added on return', async () => {
    await times(3, 'key:a');
    remote.troubles.set('key', 'down');
    expect(await times(9, 'key:a')).toEqual([...admitted(7), 'limited', 'limited']);
    expect(gateway.eventCount('state.outage')).toBe(1);
    expect(gateway.state.admit('key:a', TEN, 1)).not.toBeInstanceOf(Promise);
    expect(gateway.state.unreconciled).toBeGreaterThan(0);
    remote.troubles.clear();
    await recovered();
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    expect(await remaining('key:a')).toBe(0);
  });

  test('bans that are known here can be shown, with the time of the last answer of the remote', async () => {
    const strict = limits([window(1, HOUR)], { ...ESCALATION, strikes: 1, grace: 0 });
    expect(gateway.state.bansAsOf).toBeNull();
    expect(await times(1, 'key:a', strict)).toEqual(['admitted']);
    const asOf = clock.now;
    remote.troubles.set('key', 'down');
    clock.pass(SECOND);
    expect(await times(3, 'key:a', strict)).toEqual(['limited', 'banned', 'banned']);
    const [ban] = gateway.state.bansAsOf!.bans;
    expect(gateway.state.bansAsOf).toEqual({
      asOf,
      bans: [{ subject: 'key:a', until: ban!.until, limit: ban!.limit }],
    });
    clock.pass(ban!.until - clock.now);
    expect(gateway.state.bansAsOf!.bans).toEqual([]);
  });

  test('what was counted under limits that a reload has replaced is added too', async () => {
    await times(1, 'key:a');
    remote.troubles.set('key', 'down');
    expect(await times(3, 'key:a')).toEqual(admitted(3));
    const replaced = limits([window(10, HOUR)], null);
    expect(await times(4, 'key:a', replaced)).toEqual(admitted(4));
    remote.troubles.clear();
    await recovered();
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    expect(await remaining('key:a')).toBe(2);
  });

  test('an outage of one shard does not affect the others', async () => {
    remote.troubles.set('key', 'down');
    await times(4, 'key:a');
    const before = remote.asked;
    await times(5, 'account:b');
    expect(remote.asked - before).toBe(5);
    expect(await remaining('account:b')).toBe(5);
    expect(gateway.eventCount('state.outage')).toBe(1);
  });

  test('a reconciliation whose answer is lost is sent again and added once', async () => {
    await gateway.close();
    gateway = openGateway(remote, clock, { failureThreshold: 100 });
    remote.troubles.set('key', 'down');
    await times(4, 'key:a');
    remote.troubles.set('key', 'loses answers');
    for (let i = 0; i < 3; i++) await gateway.state.admit('key:a', TEN, 0);
    expect(gateway.state.unreconciled).toBeGreaterThan(0);
    remote.troubles.clear();
    await gateway.close();
    expect([gateway.state.unreconciled, await remaining('key:a')]).toEqual([0, 6]);
  });

  test('what one missed answer left to be counted here is added, also if its subject is never heard of again', async () => {
    remote.troubles.set('key', 'down');
    await times(1, 'key:a');
    remote.troubles.clear();
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    expect([gateway.eventCount('state.outage'), await remaining('key:a')]).toEqual([0, 9]);
  });

  test('a charge that came too late to be waited for is not added again', async () => {
    remote.troubles.set('key', 'late');
    expect(await times(2, 'key:a')).toEqual(admitted(2));
    remote.troubles.clear();
    await times(1, 'key:a');
    remote.answerLate();
    await times(1, 'key:a');
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    expect(await remaining('key:a')).toBe(6);
  });

  test.each(['down', 'loses answers', 'late'] as const)(
    'a settlement whose remote is %s is counted here, and added once',
    async (trouble) => {
      const settle = (units: number, { readings, ...rest }: Admission) =>
        gateway.state.settle('key:a', TEN, settlementOf({ readings, ...rest }, units, NO_SCOPES));
      const admission = await gateway.state.admit('key:a', TEN, 1);
      remote.troubles.set('key', trouble);
      await settle(3, admission);
      remote.troubles.clear();
      expect((await gateway.state.admit('key:a', TEN, 1)).verdict).toBe('admitted');
      await settle(2, admission);
      remote.answerLate();
      await until('nothing is left to add', () => gateway.state.unreconciled === 0);
      // Without an answer it is unknown whether it was charged.
      expect(await remaining('key:a')).toBe(trouble === 'loses answers' ? 0 : 3);
    },
  );

  test('units that are returned let a client be asked about again that is known as refused', async () => {
    const admission = await gateway.state.admit('key:a', TEN, 10);
    expect(await times(2, 'key:a')).toEqual(['limited', 'limited']);
    await gateway.state.settle('key:a', TEN, settlementOf(admission, -10, NO_SCOPES));
    expect(await times(1, 'key:a')).toEqual(admitted(1));
  });

  test('while a charge is in doubt, the remote gives out no more than was left here', async () => {
    await times(4, 'key:a');
    remote.troubles.set('key', 'late');
    await times(2, 'key:a');
    remote.troubles.clear();
    // Another gateway gives units back, which may be those that a third has given out meanwhile.
    await remote.grant('key:a', TEN, 6, null);
    expect(await times(6, 'key:a')).toEqual([...admitted(4), 'limited', 'limited']);
    remote.answerLate();
    expect(await times(1, 'key:a')).toEqual(admitted(1));
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    // Redis charged these seven, and does not get them again.
    expect(await remaining('key:a')).toBe(3);
  });

  test('an unfit subject is counted here, reported once, and added when it is repaired', async () => {
    remote.unfit.add('key:a');
    expect(await times(12, 'key:a')).toEqual([...admitted(10), 'limited', 'limited']);
    expect(await times(3, 'key:b')).toEqual(admitted(3));
    expect([gateway.eventCount('state.outage'), gateway.eventCount('state.warning')]).toEqual([
      0, 1,
    ]);
    remote.unfit.clear();
    await times(2, 'key:a');
    await until('nothing is left to add', () => gateway.state.unreconciled === 0);
    expect(await remaining('key:a')).toBe(0);
  });

  test('strikes of an unfit subject are not an outage', async () => {
    const strict = limits([window(1, HOUR)], { ...ESCALATION, grace: 0 });
    for (let i = 0; i < 4; i++) await times(2, `key:${i}`, strict);
    for (let i = 0; i < 4; i++) remote.unfit.add(`key:${i}`);
    for (let i = 0; i < 4; i++) await times(1, `key:${i}`, strict);
    await until('the strikes were sent', () => gateway.eventCount('state.warning') === 1);
    expect(gateway.eventCount('state.outage')).toBe(0);
  });

  test('a ban that began with forwarded strikes is reported once, also if its subject sends nothing more', async () => {
    const strict = limits([window(1, HOUR)], { ...ESCALATION, strikes: 3, grace: 0 });
    const received: StartedBan[] = [];
    gateway.state.onBan((ban) => received.push(ban));
    await times(5, 'key:a', strict);
    await until('the ban is reported', () => received.length > 0);
    const { bannedUntil } = await remote.look('key:a', strict);
    expect(received).toEqual([
      {
        subject: 'key:a',
        limits: strict,
        until: bannedUntil,
        level: 1,
        violated: strict.windows[0],
      },
    ]);
    expect(await times(2, 'key:a', strict)).toEqual(['banned', 'banned']);
    expect(received).toHaveLength(1);
  });

  test('a ban earned alone is added on return', async () => {
    const strict = limits([window(1, HOUR)], { ...ESCALATION, strikes: 2, grace: 0 });
    remote.troubles.set('key', 'down');
    expect(await times(4, 'key:a', strict)).toEqual(['admitted', 'limited', 'limited', 'banned']);
    remote.troubles.clear();
    await recovered();
    await until(
      'the ban is there',
      async () => (await remote.look('key:a', strict)).verdict === 'banned',
    );
  });

  test('what operators change meanwhile is an outage for them', async () => {
    remote.troubles.set('key', 'down');
    await expect(gateway.state.liftBan('key:a')).rejects.toBeInstanceOf(Outage);
    await expect(gateway.state.ban('key:a', TEN, MINUTE)).rejects.toBeInstanceOf(Outage);
  });

  test.each([
    ['deny', Outage],
    ['allow', 'admitted'],
  ] as const)('under the policy %s nothing is counted', async (onOutage, expected) => {
    await gateway.close();
    gateway = openGateway(remote, clock, { onOutage });
    remote.troubles.set('key', 'down');
    for (let i = 0; i < 20; i++) {
      const response = await times(1, 'key:a').then(
        ([verdict]) => verdict,
        (error: Error) => error.constructor,
      );
      expect(response).toBe(expected);
    }
    expect([gateway.eventCount('state.local_mode'), gateway.state.unreconciled]).toEqual([20, 0]);
  });
});

describe('beside another gateway', () => {
  test('a refusal is repeated from memory until the other gateway changes something, or may have', async () => {
    const clock = new TestClock();
    const remote = new MemoryState(clock);
    const [one, two] = [openGateway(remote, clock), openGateway(remote, clock)];
    const verdict = async () => (await one.state.admit('key:a', TEN, 10)).verdict;
    expect([await verdict(), await verdict()]).toEqual(['admitted', 'limited']);
    const { asked: requested } = remote;
    for (let i = 0; i < 50; i++) expect(await verdict()).toBe('limited');
    expect(remote.asked).toBe(requested);
    await two.state.reset('key:a');
    expect([await verdict(), await verdict()]).toEqual(['admitted', 'limited']);
    remote.publish({ type: 'anything' });
    expect(await verdict()).toBe('limited');
    expect(remote.asked).toBe(requested + 3);
    await two.close();
    await one.close();
  });
});
