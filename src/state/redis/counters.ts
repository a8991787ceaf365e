import type { Admission } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { countsIn, fullNameOf, NO_SCOPES } from '../../limits/scopes.ts';
import { createOutageGrace, DeadlineError } from '../shared/deadline.ts';
import type { InDoubtCharges, RemoteState } from '../shared/remote-state.ts';
import { type CountedRefusals, IN_FLIGHT } from '../shared/unsent-refusals.ts';
import type { Ban } from '../state.ts';
import { banListIn } from './ban-list.ts';
import { type Batch, createBatches } from './batches.ts';
import { type Connection, reconnect } from './client.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { packCharge, packWithBorders } from './packing.ts';
import {
  type CounterScript,
  checkDone,
  ReplyReader,
  readBan,
  readLevel,
  UnexpectedReply,
  unexpectedReply,
} from './replies.ts';
import { loadScript } from './scripts.ts';
import { shardsOf } from './shards.ts';
import { subjectBanned, subjectChanged } from './subscriber.ts';
import { orOutage } from './timeouts.ts';

const SCRIPTS = {
  admit: loadScript('admit-n.lua'),
  look: loadScript('look-1.lua'),
  strike: loadScript('strike-1.lua'),
  ban: loadScript('ban-1.lua'),
  liftBan: loadScript('lift-1.lua'),
  reset: loadScript('reset-1.lua'),
  charge: loadScript('charge-1.lua'),
  settle: loadScript('settle-1.lua'),
  grant: loadScript('grant-1.lua'),
  banLevel: loadScript('level-1.lua'),
};

type ScriptName = keyof typeof SCRIPTS;
type Arguments = readonly (string | number)[];
/** `clock`: that of Redis, which chooses the borders of calendar windows. */
type MakeArguments = (clock: () => number) => Arguments;

interface RedisStateOptions {
  /** Milliseconds. If Redis is slow, requests wait once more. */
  readonly deadline?: number;
  /** The clock of Redis as far as this process knows it, Unix milliseconds. */
  readonly estimate?: () => number;
  /** For tests: replaces the clock of Redis. */
  readonly clock?: (() => number) | null;
}

/** In place of the number of a window. */
const TOO_MANY_IN_FLIGHT = -1;
/** Redis takes its own time for any later one. */
const LATEST = Number.MAX_SAFE_INTEGER;

const IGNORED: InDoubtCharges = { begin() {}, end() {}, banned() {} };

/** Each step is one script on one hash. Every late or missing reply is an `Outage`. */
export function createRedisState(
  redis: Connection,
  {
    deadline = 50,
    clock = null,
    estimate = clock ?? Date.now,
  }: RedisStateOptions = {},
) {
  const inTime = createOutageGrace(deadline, shardsOf(redis).shardOf);
  const now = clock ?? (() => '');
  // In a Cluster all keys of a script must share a slot.
  const batches = createBatches(redis.isCluster, send);
  const banned = banListIn(redis, now, banOf);
  let inDoubt: InDoubtCharges = IGNORED;

  const argsFor =
    (limits: Limits, ...more: Arguments): MakeArguments =>
    (clock) => [now(), ...packWithBorders(limits, clock), ...more];

  async function send(batch: Batch) {
    const { requests, sets, subject } = batch;
    const charges = requests.flatMap(({ limits, cost, scopes }) => [
      sets.get(limits)!,
      packCharge(limits, cost, scopes),
    ]);
    const args: MakeArguments = (clock) => [
      now(),
      sets.size,
      ...[...sets.keys()].flatMap((limits) => packWithBorders(limits, clock)),
      ...charges,
    ];
    try {
      const decisions = await run(
        'admit',
        subject,
        args,
        (reply) => batch.read(reply),
        (running) => batch.inDoubt(running, inDoubt),
        requests.map((one) => keyOf.counters(one.subject)),
      );
      batch.settle(decisions, banned.note);
    } catch (error) {
      batch.fail(error);
    }
  }

  async function countRefusals({
    subject,
    limits,
    count,
    times,
    cause,
  }: CountedRefusals): Promise<Admission> {
    const number =
      cause === IN_FLIGHT ? TOO_MANY_IN_FLIGHT : numberOf(limits, cause);
    const args = argsFor(limits, number, count, ...times);
    const admission = await readAdmission('strike', subject, limits, args);
    if (admission.verdict === 'banned')
      banned.note(subject, admission.bannedUntil);
    return admission;
  }

  function banOf(subject: string): Promise<Ban | null> {
    const keys = [keyOf.counters(subject)];
    const args: MakeArguments = () => [now(), '', '[]', ''];
    return checked(ask('banLevel', keys, args), (reply) =>
      readBan(subject, reply),
    );
  }

  function readAdmission(
    name: 'look' | 'strike',
    subject: string,
    limits: Limits,
    args: MakeArguments,
  ): Promise<Admission> {
    return run(name, subject, args, (reply) => {
      const reader = new ReplyReader(reply);
      const admission = reader.admissionWithStrikes(subject, limits);
      reader.end();
      return admission;
    });
  }

  function change(
    name: CounterScript,
    subject: string,
    args: MakeArguments,
    late?: (running: Promise<void>) => void,
  ) {
    const read = (reply: unknown) => checkDone(name, reply, subject);
    return run(name, subject, args, read, late);
  }

  /** `late` is called with the work if it does not end in time: Redis may still do it. */
  async function run<T>(
    name: ScriptName,
    subject: string,
    args: MakeArguments,
    read: (reply: unknown) => T,
    late?: (running: Promise<T>) => void,
    keys: readonly string[] = [keyOf.counters(subject)],
  ): Promise<T> {
    const running = checked(ask(name, keys, args), read);
    try {
      return await inTime(subject, running);
    } catch (error) {
      if (error instanceof DeadlineError) late?.(running);
      throw unexpectedReply(subject, error);
    }
  }

  /** Sends the borders around the clock of Redis if it is not where this process believes it. */
  async function ask(
    name: ScriptName,
    keys: readonly string[],
    args: MakeArguments,
  ): Promise<unknown> {
    try {
      return await SCRIPTS[name](redis, keys, args(estimate));
    } catch (error) {
      const clock = clockWithoutBorders(error);
      if (clock === null) throw error;
      return await SCRIPTS[name](
        redis,
        keys,
        args(() => clock),
      );
    }
  }

  /** Drops the connection if a reply does not fit its command. */
  async function checked<T>(
    pending: Promise<unknown>,
    read: (reply: unknown) => T,
  ): Promise<T> {
    const reply = await pending;
    try {
      return read(reply);
    } catch (error) {
      if (error instanceof UnexpectedReply) reconnect(redis);
      throw error;
    }
  }

  return {
    reportInDoubt(charges) {
      inDoubt = charges;
    },
    admit: (subject, limits, cost, scopes = NO_SCOPES) =>
      batches.add(subject, limits, cost, scopes),
    settle(subject, limits, { units, scopes, ends }) {
      const windows = limits.windows.flatMap((window, i) => [
        countsIn(window, scopes) && ends[i] !== 0 ? units : 0,
        ends[i]!,
      ]);
      // What Redis charges after all must not be repeated.
      const late = (running: Promise<void>) => {
        inDoubt.begin(subject);
        running.then(
          () => inDoubt.end(subject, units, scopes),
          () => inDoubt.end(subject, 0, scopes),
        );
      };
      return change('settle', subject, argsFor(limits, ...windows), late);
    },
    look: (subject, limits) =>
      readAdmission('look', subject, limits, argsFor(limits)),
    strike: (subject, limits) =>
      countRefusals({
        subject,
        limits,
        count: 1,
        times: [LATEST],
        cause: IN_FLIGHT,
      }),
    countRefusals,
    liftBan: (subject) =>
      change('liftBan', subject, () => [CHANNEL, subjectChanged(subject)]),
    reset: (subject) =>
      change('reset', subject, () => [CHANNEL, subjectChanged(subject)]),
    grant(subject, limits, units, window) {
      const chosen = limits.windows
        .map((one) => (window === null || fullNameOf(one) === window ? 1 : 0))
        .join('');
      const message = subjectChanged(subject);
      const args = argsFor(limits, units, chosen, CHANNEL, message);
      return change('grant', subject, args);
    },
    banLevel: (subject, limits) =>
      run('banLevel', subject, argsFor(limits), readLevel),
    /** No timeout: the first call scans every master. */
    bans: () => orOutage(banned.list()),
    prepareBans: banned.markWhole,
    async ban(subject, limits, length) {
      const args = argsFor(limits, length, CHANNEL, subjectBanned(subject));
      await change('ban', subject, args);
      try {
        const added = await banOf(subject);
        if (added) await banned.add([added]);
      } catch (error) {
        throw unexpectedReply(subject, error);
      }
    },
    async charge(subject, limits, { ban, windows, gateway, number }) {
      const args = argsFor(
        limits,
        gateway,
        number,
        ...(ban
          ? [ban.until, ban.since, numberOf(limits, ban.limit)]
          : [0, 0, 0]),
        ...windows.flatMap(({ units, openedAt }) => [units, openedAt]),
      );
      await change('charge', subject, args);
      if (ban) banned.note(subject, ban.until);
    },
    /** The connection belongs to the caller. */
    async close() {
      batches.flush();
      await banned.close();
    },
  } satisfies RemoteState & { prepareBans(): Promise<void> };
}

/**
 * The clock of Redis if a script changed nothing because the borders did not include it (see
 * rules/counters.lua); else `null`.
 */
function clockWithoutBorders(error: unknown): number | null {
  const text = error instanceof Error ? error.message : '';
  const [, clock] = /\bBORDERS (\d+)/.exec(text) ?? [];
  return clock === undefined ? null : Number(clock);
}

/** Numbered from 1 in scripts; 0: not in these limits. */
function numberOf({ windows }: Limits, window: Window | null): number {
  return window === null ? 0 : windows.indexOf(window) + 1;
}
