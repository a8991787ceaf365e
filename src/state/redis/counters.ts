import { Outage } from '../../errors/outage.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import type { InDoubtCharges, Reconciliation, SharedBackend } from '../shared/backend.ts';
import { DeadlineError } from '../shared/deadline.ts';
import type { Ban } from '../state.ts';
import { inTime } from './asking.ts';
import { bannedSubjects } from './banned.ts';
import { type Batch, Batches } from './batches.ts';
import type { Connection } from './client.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { subjectBanned, subjectChanged } from './messages.ts';
import { AnswerReader, packLimits } from './packing.ts';
import { loadScript, runScript, type Script } from './scripts.ts';

const SCRIPTS = {
  admit: loadScript('admit-n.lua'),
  look: loadScript('look-1.lua'),
  strike: loadScript('strike-1.lua'),
  ban: loadScript('ban-1.lua'),
  pardon: loadScript('pardon-1.lua'),
  reset: loadScript('reset-1.lua'),
  charge: loadScript('charge-1.lua'),
  grant: loadScript('grant-1.lua'),
  conduct: loadScript('conduct-1.lua'),
};

export interface RedisStateOptions {
  /** Milliseconds to wait for an answer. */
  readonly deadline?: number;
  /** For tests: the scripts believe this clock instead of Redis's own. */
  readonly clock?: (() => number) | null;
}

const IGNORED: InDoubtCharges = { begin() {}, end() {} };

/**
 * State in Redis: every step is one script on one hash. Whatever keeps Redis from answering in time is an `Outage`.
 */
export class RedisState implements SharedBackend {
  readonly #redis: Connection;
  readonly #deadline: number;
  readonly #clock: () => number | string;
  #inDoubt: InDoubtCharges = IGNORED;
  readonly #batches: Batches;

  constructor(redis: Connection, { deadline = 50, clock = null }: RedisStateOptions = {}) {
    this.#redis = redis;
    this.#deadline = deadline;
    this.#clock = clock ?? (() => '');
    // In a Cluster the keys of one script must share a slot: only requests of one subject go together.
    this.#batches = new Batches({ apart: redis.isCluster, send: (batch) => this.#admit(batch) });
  }

  reportInDoubt(charges: InDoubtCharges): void {
    this.#inDoubt = charges;
  }

  admit(subject: string, limits: Limits, cost: number): Promise<Admission> {
    return this.#batches.add(subject, limits, cost);
  }

  async look(subject: string, limits: Limits): Promise<Admission> {
    const answer = await this.#run(SCRIPTS.look, subject, [this.#clock(), ...packLimits(limits)]);
    return this.#standing(answer, subject, limits);
  }

  async strike(subject: string, limits: Limits, times: readonly number[]): Promise<Admission> {
    const answer = await this.#run(SCRIPTS.strike, subject, [this.#clock(), ...packLimits(limits), ...times]);
    return this.#standing(answer, subject, limits);
  }

  async pardon(subject: string): Promise<void> {
    await this.#run(SCRIPTS.pardon, subject, [CHANNEL, subjectChanged(subject)]);
  }

  async reset(subject: string): Promise<void> {
    await this.#run(SCRIPTS.reset, subject, [CHANNEL, subjectChanged(subject)]);
  }

  async grant(subject: string, limits: Limits, units: number, window: string | null): Promise<void> {
    const chosen = limits.windows.map(({ name }) => (window === null || name === window ? 1 : 0)).join('');
    const args = [this.#clock(), ...packLimits(limits), units, chosen, CHANNEL, subjectChanged(subject)];
    await this.#run(SCRIPTS.grant, subject, args);
  }

  async rung(subject: string, limits: Limits): Promise<number> {
    const [, rung] = (await this.#run(SCRIPTS.conduct, subject, [this.#clock(), ...packLimits(limits)])) as number[];
    return rung!;
  }

  /** Waits as long as it takes: every master is walked from end to end. */
  async bans(): Promise<Ban[]> {
    try {
      return await bannedSubjects(this.#redis, (subject) =>
        runScript(this.#redis, SCRIPTS.conduct, [keyOf.ledger(subject)], [this.#clock(), '', '[]', '']),
      );
    } catch (error) {
      throw new Outage('state_unavailable', { cause: error });
    }
  }

  async ban(subject: string, limits: Limits, length: number): Promise<void> {
    const args = [this.#clock(), ...packLimits(limits), length, CHANNEL, subjectBanned(subject)];
    await this.#run(SCRIPTS.ban, subject, args);
  }

  async charge(subject: string, limits: Limits, reconciliation: Reconciliation): Promise<void> {
    const windows = reconciliation.windows.flatMap(({ units, openedAt }) => [units, openedAt]);
    const args = [
      this.#clock(),
      ...packLimits(limits),
      reconciliation.gateway,
      reconciliation.number,
      reconciliation.bannedUntil,
      ...windows,
    ];
    await this.#run(SCRIPTS.charge, subject, args);
  }

  /** The connection belongs to whoever made it. */
  async close(): Promise<void> {
    this.#batches.flush();
  }

  async #admit(batch: Batch): Promise<void> {
    const running = runScript(this.#redis, SCRIPTS.admit, ...this.#argumentsOf(batch));
    try {
      batch.settle(new AnswerReader(await inTime(running, this.#deadline)));
    } catch (error) {
      if (error instanceof DeadlineError) batch.inDoubt(running, this.#inDoubt);
      batch.fail(new Outage('state_unavailable', { cause: error }));
    }
  }

  #argumentsOf({ requests, sets }: Batch): [keys: string[], args: (string | number)[]] {
    const args: (string | number)[] = [this.#clock(), sets.size];
    for (const limits of sets.keys()) args.push(...packLimits(limits));
    const keys: string[] = [];
    for (const { subject, limits, cost } of requests) {
      keys.push(keyOf.ledger(subject));
      args.push(sets.get(limits)!, cost);
    }
    return [keys, args];
  }

  #standing(answer: unknown, subject: string, limits: Limits): Admission {
    try {
      return new AnswerReader(answer).standing(subject, limits);
    } catch (error) {
      throw new Outage('state_unavailable', { cause: error });
    }
  }

  async #run(script: Script, subject: string, args: readonly (string | number)[]): Promise<unknown> {
    try {
      return await inTime(runScript(this.#redis, script, [keyOf.ledger(subject)], args), this.#deadline);
    } catch (error) {
      throw new Outage('state_unavailable', { cause: error });
    }
  }
}
