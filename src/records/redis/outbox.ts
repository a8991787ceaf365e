import type { Connection } from '../../state/redis/client.ts';
import { keyOf, OUTBOX_TTL } from '../../state/redis/key-names.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import {
  DUE_BATCH,
  type EndpointState,
  type Job,
  LEASE,
  MAX_NAMES,
  type Message,
  type Outbox,
} from '../outbox.ts';

const enqueue = loadScript('enqueue-n.lua');
const takeJob = loadScript('take-3.lua');
const settleJob = loadScript('settle-4.lua');
const moveMark = loadScript('move-1.lua');

type StoredJob = Message & { readonly at: number };

interface OutboxInRedisOptions {
  /**
   * For tests: the time that the caller passes decides. Otherwise its clock only shows its
   * difference to that of Redis.
   */
  readonly usesCallerClock?: boolean;
}

/** All its keys are in one slot. */
export function outboxInRedis(
  redis: Connection,
  { usesCallerClock = false }: OutboxInRedisOptions = {},
): Outbox {
  const clock = usesCallerClock ? '1' : '';
  const { names, queuedAt, counter, marks, due, createdAt, jobs, lastResult } =
    keyOf.outbox;

  const keysFor = (endpoint: string) => [
    due(endpoint),
    createdAt(endpoint),
    jobs(endpoint),
    lastResult(endpoint),
  ];

  async function settle(
    what: 'done' | 'failed' | 'lost' | 'well',
    endpoint: string,
    number: string,
    now: number,
    ...more: readonly (string | number)[]
  ) {
    await withTimeout(
      settleJob(redis, keysFor(endpoint), [
        what,
        number,
        now,
        clock,
        OUTBOX_TTL,
        ...more,
      ]),
    );
  }

  return {
    async add({ message, endpoints, once, most, now }) {
      const written: StoredJob = { ...message, at: now };
      const keys = [names, queuedAt, counter, ...endpoints.flatMap(keysFor)];
      const { name, since, until, ends = '' } = once;
      const args = [
        now,
        clock,
        name,
        since,
        until,
        ends,
        MAX_NAMES,
        most,
        OUTBOX_TTL,
        JSON.stringify(written),
      ];
      return (await withTimeout(enqueue(redis, keys, args))) as number | null;
    },
    async take(endpoint, now) {
      const keys = [due(endpoint), jobs(endpoint), lastResult(endpoint)];
      const answer = (await withTimeout(
        takeJob(redis, keys, [now, clock, LEASE]),
      )) as
        | [number: string, job: string, attempts: number, failures: number]
        | null;
      if (answer === null) return null;
      const [number, job, attempts, failures] = answer;
      const { id, type, body, at } = JSON.parse(job) as StoredJob;
      return { endpoint, number, id, type, body, at, attempts, failures };
    },
    done: ({ endpoint, number }, now) =>
      settle('done', endpoint, number, now, now + LEASE, DUE_BATCH),
    failed: (
      { endpoint, number }: Job,
      { now, again, pausedUntil, error, isGone },
    ) =>
      settle(
        'failed',
        endpoint,
        number,
        now,
        again,
        pausedUntil,
        error,
        Number(isGone),
      ),
    giveUp: ({ endpoint, number }, now) =>
      settle('lost', endpoint, number, now),
    resume: (endpoint, now) =>
      settle('well', endpoint, '', now, now + LEASE, DUE_BATCH),
    async states(endpoints) {
      const answers = await allWithTimeout(
        redis,
        endpoints.flatMap((one) => [
          ['hmget', lastResult(one), ...RESULT_FIELDS],
          ['zcard', createdAt(one)],
          ['zrange', createdAt(one), '0', '0', 'WITHSCORES'],
        ]),
      );
      return endpoints.map((_, i) =>
        stateOf(answers[3 * i], answers[3 * i + 1], answers[3 * i + 2]),
      );
    },
    async mark(name) {
      const value = await withTimeout(redis.hget(marks, name));
      return value === null ? null : Number(value);
    },
    async move(name, from, to) {
      return (
        (await withTimeout(
          moveMark(redis, [marks], [name, from ?? '', to]),
        )) === 1
      );
    },
    // The connection belongs to the caller.
    close: () => {},
  };
}

const RESULT_FIELDS = [
  'failing',
  'failures',
  'error',
  'delivered',
  'paused',
  'gone',
  'lost',
];

function stateOf(
  lastResult: unknown,
  waiting: unknown,
  first: unknown,
): EndpointState {
  const [failing, failures, error, delivered, paused, gone, lost] =
    lastResult as (string | null)[];
  const [, oldest] = first as [string?, string?];
  return {
    waiting: waiting as number,
    oldest: oldest === undefined ? null : Number(oldest),
    failingSince: failing ? Number(failing) : null,
    failures: Number(failures),
    error: error ?? null,
    deliveredAt: delivered ? Number(delivered) : null,
    pausedUntil: Number(paused),
    isGone: gone === '1',
    lost: Number(lost),
  };
}
