import { describe, expect, test } from '@jest/globals';
import { Outage } from '../../../src/common/errors/outage.ts';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { createAdmit, createJudge } from '../../../src/gateway/stages/admit.ts';
import type { Admission } from '../../../src/limits/admission.ts';
import type { Window } from '../../../src/limits/limits.ts';
import type { Event } from '../../../src/observe/events.ts';
import type { State } from '../../../src/state/state.ts';
import { exchangeOf, knownClient } from '../../support/exchange.ts';
import { DAY, ESCALATION, MINUTE, window } from '../../support/limits.ts';

const NOW = Date.UTC(2026, 0, 1);
const minute: Window = { ...window(60, MINUTE), name: 'minute' };
const day: Window = { ...window(1000, DAY), name: 'day' };

function admission(given: Partial<Admission> = {}): Admission {
  return {
    verdict: 'admitted',
    now: NOW,
    readings: [{ window: minute, used: 1, resetAt: NOW + MINUTE }],
    retryAt: 0,
    violated: null,
    strikes: 0,
    freeRefusals: 0,
    bannedUntil: 0,
    banBegins: false,
    ...given,
  };
}

const limited = (given: Partial<Admission> = {}) =>
  admission({ verdict: 'limited', violated: minute, retryAt: NOW + 1_500, ...given });

function admitting(response: Admission | Promise<Admission>) {
  const events: Event[] = [];
  const requested: unknown[][] = [];
  const state = {
    admit(...question: unknown[]) {
      requested.push(question);
      return response;
    },
  } as unknown as State;
  const begun: unknown[][] = [];
  const bans = { note: () => {}, begun: (...args: unknown[]) => void begun.push(args) };
  const judge = createJudge({ bans, observe: (event) => events.push(event) });
  const admit = createAdmit({ state, judge });
  const exchange = exchangeOf();
  return {
    events,
    begun,
    asked: requested,
    exchange,
    admitted: (cost = 1, client = knownClient()) => admit(exchange, client, cost),
  };
}

describe('an admitted request', () => {
  test('continues as its client, synchronously if the state answers so', () => {
    const { admitted, asked: requested, exchange } = admitting(admission());
    const client = knownClient();
    expect(admitted(3)).toEqual(client);
    expect(requested).toEqual([[client.subject, client.limits, 3, []]]);
    expect(exchange).toMatchObject({
      admission: { verdict: 'admitted' },
      cost: 3,
      usage: { readings: [{ used: 1 }] },
    });
  });

  test('continues later if the state answers later', async () => {
    const { admitted, exchange } = admitting(Promise.resolve(admission()));
    const response = admitted();
    expect(response).toBeInstanceOf(Promise);
    expect(exchange.admission).toBeNull();
    expect(await response).toEqual(knownClient());
    expect(exchange.admission?.verdict).toBe('admitted');
  });
});

describe('a limited request', () => {
  test.each([
    ['rate_limit_exceeded', minute, 'Limit of 60 per minute exceeded:'],
    ['daily_quota_exceeded', day, 'Limit of 1000 per day exceeded:'],
    [
      'rate_limit_exceeded',
      { ...minute, scope: 'login' },
      'Limit of 60 per minute for login exceeded:',
    ],
    [
      'daily_quota_exceeded',
      { ...day, scope: 'tag:to%20find' },
      'Limit of 1000 per day for the tag to find exceeded:',
    ],
  ])('is refused with %s and the seconds to wait', (code, violated, message) => {
    const refusal = admitting(limited({ violated })).admitted() as Refusal;
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code, status: 429, headers: ['Retry-After', '2'] });
    expect(refusal.message).toBe(
      `${message} retry after 2 seconds. Requests sent earlier count towards a ban.`,
    );
  });

  test.each([
    [7, 'Limit of 60 per minute exceeded by a request of 7 units: retry after 2 seconds.'],
    [
      61,
      'Limit of 60 per minute never admits a request of 61 units: ask the API operator for a higher limit.',
    ],
  ])('states its cost of %d', (cost, message) => {
    const refusal = admitting(limited()).admitted(cost) as Refusal;
    expect(refusal.message).toBe(`${message} Requests sent earlier count towards a ban.`);
  });

  test('is warned one strike before a ban', () => {
    const { headers, message } = admitting(
      limited({ strikes: ESCALATION.strikes - 1 }),
    ).admitted() as Refusal;
    expect(message).toMatch(/The next request sent earlier bans this key\.$/);
    expect(headers).toEqual(['Retry-After', '2', 'X-Ban-Warning', 'strikes-left=1']);
  });

  test('is not warned while further refusals are free', () => {
    const refused = limited({ strikes: ESCALATION.strikes - 1, freeRefusals: 1 });
    expect((admitting(refused).admitted() as Refusal).headers).toEqual(['Retry-After', '2']);
  });

  test('gets the identical refusal again, until the wait changes', () => {
    const responses = [limited(), limited(), limited({ retryAt: NOW + 2_500 })];
    const state = { admit: () => responses.shift()! } as unknown as State;
    const judge = createJudge({ bans: { note() {}, begun() {} }, observe: () => {} });
    const admit = createAdmit({ state, judge });
    const [first, second, third] = [1, 2, 3].map(() => admit(exchangeOf(), knownClient(), 1));
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });
});

describe('a banned request', () => {
  const until = NOW + 61_200;

  test('is refused with 403 and the end of the ban in UTC, rounded up', () => {
    const { admitted, events, exchange } = admitting(
      admission({ verdict: 'banned', bannedUntil: until, retryAt: until }),
    );
    const refusal = admitted() as Refusal;
    expect(refusal).toMatchObject({
      code: 'key_banned',
      status: 403,
      headers: ['Retry-After', '62'],
    });
    expect(refusal.message).toContain(
      'banned until 2026-01-01T00:01:02Z, because it kept sending after 429',
    );
    expect(exchange.admission?.verdict).toBe('banned');
    expect(events).toEqual([]);
    // Another key of the account may have caused it.
    const other = admitted(1, knownClient({ subject: 'account:acme' })) as Refusal;
    expect(other.message).toMatch(
      /^All keys of this account are banned until 2026-01-01T00:01:02Z, because they kept sending/,
    );
  });

  test('is reported to listeners when the ban begins with it', () => {
    const { admitted, events, begun } = admitting(
      admission({ verdict: 'banned', bannedUntil: until, retryAt: until, banBegins: true }),
    );
    void admitted();
    expect(events).toEqual([{ type: 'ban', id: 'request-1', keyId: 'key_1', plan: 'free', until }]);
    // The state itself reports a ban that began with forwarded strikes.
    expect(begun).toEqual([]);
  });

  test('records the ban if the admission has all of it, with the operation of the request', () => {
    const { admitted, begun, exchange } = admitting(
      admission({
        verdict: 'banned',
        bannedUntil: until,
        retryAt: until,
        violated: minute,
        banBegins: true,
        banLevel: 2,
      }),
    );
    exchange.route = 'listPets';
    void admitted();
    const { subject, limits } = knownClient();
    expect(begun).toEqual([
      [
        { subject, limits, until, level: 2, violated: minute },
        { plan: 'free', operation: 'listPets', requestId: 'request-1' },
      ],
    ]);
  });
});

test('an outage of the state is not an admission', async () => {
  const outage = new Outage('state_unavailable');
  const { admitted, exchange } = admitting(Promise.reject(outage));
  await expect(admitted()).rejects.toBe(outage);
  expect(exchange.admission).toBeNull();
});
