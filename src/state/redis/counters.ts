import { Outage } from '../../common/errors/outage.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import {
  countsIn,
  fullNameOf,
  NO_SCOPES,
  type Scopes,
} from '../../limits/scopes.ts';
import type { Settlement } from '../../limits/settlement.ts';
import { DeadlineError, OutageGrace } from '../shared/deadline.ts';
import type {
  InDoubtCharges,
  Reconciliation,
  RemoteState,
} from '../shared/remote-state.ts';
import { type CountedRefusals, IN_FLIGHT } from '../shared/unsent-refusals.ts';
import type { Ban } from '../state.ts';
import { type BanList, banListIn } from './ban-list.ts';
import { type Batch, createBatches } from './batches.ts';
import { type Connection, reconnect } from './client.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { type PackedLimits, packCharge, packWithBorders } from './packing.ts';
import {
  type CounterScript,
  checkDone,
  ReplyReader,
  readBan,
  readLevel,
  UnexpectedReply,
  unexpectedReply,
} from './replies.ts';
import { loadScript, runScript } from './scripts.ts';
import { shardsOf } from './shards.ts';
import { subjectBanned, subjectChanged } from './subscriber.ts';

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
export class RedisState implements RemoteState {
  readonly #redis: Connection;
  readonly #patience: OutageGrace;
  readonly #clock: () => number | string;
  readonly #estimate: () => number;
  #inDoubt: InDoubtCharges = IGNORED;
  readonly #batches: ReturnType<typeof createBatches>;
  readonly #banned: BanList;

  constructor(redis: Connection, options: RedisStateOptions = {}) {
    const {
      deadline = 50,
      clock = null,
      estimate = clock ?? Date.now,
    } = options;
    this.#redis = redis;
    this.#patience = new OutageGrace(deadline, shardsOf(redis).shardOf);
    this.#clock = clock ?? (() => '');
    this.#estimate = estimate;
    // In a Cluster all keys of a script must share a slot.
    this.#batches = createBatches(redis.isCluster, (batch) =>
      this.#admit(batch),
    );
    this.#banned = banListIn(redis, this.#clock, (subject) =>
      this.#banOf(subject),
    );
  }

  reportInDoubt(charges: InDoubtCharges): void {
    this.#inDoubt = charges;
  }

  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): Promise<Admission> {
    return this.#batches.add(subject, limits, cost, scopes);
  }

  async settle(
    subject: string,
    limits: Limits,
    settlement: Settlement,
  ): Promise<void> {
    const { units, scopes, ends } = settlement;
    const windows = limits.windows.flatMap((window, i) => [
      countsIn(window, scopes) ? units : 0,
      ends[i]!,
    ]);
    const args = [this.#clock(), ...this.#packed(limits), ...windows];
    const asked = runScript(
      this.#redis,
      SCRIPTS.settle,
      [keyOf.counters(subject)],
      args,
    );
    const running = this.#read(asked, (answer) =>
      checkDone('settle', answer, subject),
    );
    try {
      await this.#patience.wait(subject, running);
    } catch (error) {
      if (error instanceof DeadlineError)
        this.#settleLate(subject, settlement, running);
      throw unexpectedReply(subject, error);
    }
  }

  /** What Redis charges after all must not be repeated. */
  #settleLate(
    subject: string,
    { units, scopes }: Settlement,
    running: Promise<void>,
  ): void {
    this.#inDoubt.begin(subject);
    running.then(
      () => this.#inDoubt.end(subject, units, scopes),
      () => this.#inDoubt.end(subject, 0, scopes),
    );
  }

  async look(subject: string, limits: Limits): Promise<Admission> {
    return this.#readAdmission('look', subject, limits, []);
  }

  strike(subject: string, limits: Limits): Promise<Admission> {
    return this.countRefusals({
      subject,
      limits,
      count: 1,
      times: [LATEST],
      cause: IN_FLIGHT,
    });
  }

  async countRefusals({
    subject,
    limits,
    count,
    times,
    cause,
  }: CountedRefusals): Promise<Admission> {
    const number =
      cause === IN_FLIGHT ? TOO_MANY_IN_FLIGHT : numberOf(limits, cause);
    const admission = await this.#readAdmission('strike', subject, limits, [
      number,
      count,
      ...times,
    ]);
    if (admission.verdict === 'banned')
      this.#banned.note(subject, admission.bannedUntil);
    return admission;
  }

  async liftBan(subject: string): Promise<void> {
    await this.#do('liftBan', subject, [CHANNEL, subjectChanged(subject)]);
  }

  async reset(subject: string): Promise<void> {
    await this.#do('reset', subject, [CHANNEL, subjectChanged(subject)]);
  }

  async grant(
    subject: string,
    limits: Limits,
    units: number,
    window: string | null,
  ): Promise<void> {
    const chosen = limits.windows
      .map((one) => (window === null || fullNameOf(one) === window ? 1 : 0))
      .join('');
    const args = [
      this.#clock(),
      ...this.#packed(limits),
      units,
      chosen,
      CHANNEL,
      subjectChanged(subject),
    ];
    await this.#do('grant', subject, args);
  }

  async banLevel(subject: string, limits: Limits): Promise<number> {
    const args = [this.#clock(), ...this.#packed(limits)];
    return this.#run('banLevel', subject, args, (answer) => readLevel(answer));
  }

  /** No timeout: the first call scans every master. */
  async bans(): Promise<Ban[]> {
    try {
      return await this.#banned.list();
    } catch (error) {
      throw new Outage('state_unavailable', { cause: error });
    }
  }

  async prepareBans(): Promise<void> {
    await this.#banned.markWhole();
  }

  async ban(subject: string, limits: Limits, length: number): Promise<void> {
    const args = [
      this.#clock(),
      ...this.#packed(limits),
      length,
      CHANNEL,
      subjectBanned(subject),
    ];
    await this.#do('ban', subject, args);
    try {
      const added = await this.#banOf(subject);
      if (added) await this.#banned.add([added]);
    } catch (error) {
      throw unexpectedReply(subject, error);
    }
  }

  async charge(
    subject: string,
    limits: Limits,
    reconciliation: Reconciliation,
  ): Promise<void> {
    const { ban } = reconciliation;
    const windows = reconciliation.windows.flatMap(({ units, openedAt }) => [
      units,
      openedAt,
    ]);
    const args = [
      this.#clock(),
      ...this.#packed(limits),
      reconciliation.gateway,
      reconciliation.number,
      ...(ban
        ? [ban.until, ban.since, numberOf(limits, ban.limit)]
        : [0, 0, 0]),
      ...windows,
    ];
    await this.#do('charge', subject, args);
    if (ban) this.#banned.note(subject, ban.until);
  }

  /** The connection belongs to the caller. */
  async close(): Promise<void> {
    this.#batches.flush();
    await this.#banned.close();
  }

  async #admit(batch: Batch): Promise<void> {
    const asked = runScript(
      this.#redis,
      SCRIPTS.admit,
      ...this.#argumentsOf(batch),
    );
    const running = this.#read(asked, (answer) => batch.read(answer));
    try {
      const decisions = await this.#patience.wait(batch.subject, running);
      batch.settle(decisions, (subject, until) =>
        this.#banned.note(subject, until),
      );
    } catch (error) {
      if (error instanceof DeadlineError) batch.inDoubt(running, this.#inDoubt);
      batch.fail(new Outage('state_unavailable', { cause: error }));
    }
  }

  #packed(limits: Limits): PackedLimits {
    return packWithBorders(limits, this.#estimate);
  }

  async #banOf(subject: string): Promise<Ban | null> {
    const args = [this.#clock(), '', '[]', ''];
    const asked = runScript(
      this.#redis,
      SCRIPTS.banLevel,
      [keyOf.counters(subject)],
      args,
    );
    return this.#read(asked, (answer) => readBan(subject, answer));
  }

  /** Drops the connection if a reply does not fit its command. */
  async #read<T>(
    asked: Promise<unknown>,
    read: (answer: unknown) => T,
  ): Promise<T> {
    const answer = await asked;
    try {
      return read(answer);
    } catch (error) {
      if (error instanceof UnexpectedReply) reconnect(this.#redis);
      throw error;
    }
  }

  #argumentsOf({ requests, sets }: Batch): [keys: string[], args: Arguments] {
    const args: (string | number)[] = [this.#clock(), sets.size];
    for (const limits of sets.keys()) args.push(...this.#packed(limits));
    const keys: string[] = [];
    for (const { subject, limits, cost, scopes } of requests) {
      keys.push(keyOf.counters(subject));
      args.push(sets.get(limits)!, packCharge(limits, cost, scopes));
    }
    return [keys, args];
  }

  #readAdmission(
    name: 'look' | 'strike',
    subject: string,
    limits: Limits,
    times: Arguments,
  ): Promise<Admission> {
    const args = [this.#clock(), ...this.#packed(limits), ...times];
    return this.#run(name, subject, args, (answer) => {
      const reader = new ReplyReader(answer);
      const admission = reader.admissionWithStrikes(subject, limits);
      reader.end();
      return admission;
    });
  }

  #do(name: CounterScript, subject: string, args: Arguments): Promise<void> {
    return this.#run(name, subject, args, (answer) =>
      checkDone(name, answer, subject),
    );
  }

  async #run<T>(
    name: ScriptName,
    subject: string,
    args: Arguments,
    read: (answer: unknown) => T,
  ): Promise<T> {
    try {
      const asked = runScript(
        this.#redis,
        SCRIPTS[name],
        [keyOf.counters(subject)],
        args,
      );
      return await this.#patience.wait(subject, this.#read(asked, read));
    } catch (error) {
      throw unexpectedReply(subject, error);
    }
  }
}

/** Numbered from 1 in scripts; 0: not in these limits. */
function numberOf({ windows }: Limits, window: Window | null): number {
  return window === null ? 0 : windows.indexOf(window) + 1;
}
