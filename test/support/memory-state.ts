import { Outage } from '../../src/common/errors/outage.ts';
import type { Admission } from '../../src/limits/admission.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { fullNameOf, NO_SCOPES, type Scopes } from '../../src/limits/scopes.ts';
import type { Settlement } from '../../src/limits/settlement.ts';
import { createEmbeddedState, type EmbeddedState } from '../../src/state/embedded/counters.ts';
import type {
  Bus,
  InDoubtCharges,
  Message,
  Reconciliation,
  RemoteState,
  Shards,
} from '../../src/state/shared/remote-state.ts';
import { type CountedRefusals, IN_FLIGHT } from '../../src/state/shared/unsent-refusals.ts';
import { type Ban, CountersError } from '../../src/state/state.ts';
import type { TestClock } from './limits.ts';

/**
 * The fault of a shard: it does nothing and reports it; it works and loses the response; it
 * responds too late.
 */
export type Trouble = 'down' | 'loses answers' | 'late';

/** A shared Redis in this process. The text before the colon of a subject's name is its shard. */
export class MemoryState implements RemoteState, Shards, Bus {
  readonly troubles = new Map<string, Trouble>();
  /** Subjects with an invalid record. */
  readonly unfit = new Set<string>();
  readonly #clock: TestClock;
  readonly #state: EmbeddedState;
  readonly #added = new Map<string, number>();
  readonly #listeners = new Set<(message: Message) => void>();
  #late: (() => void)[] = [];
  #inDoubt: InDoubtCharges = { begin() {}, end() {}, banned() {} };
  asked = 0;

  constructor(clock: TestClock) {
    this.#clock = clock;
    this.#state = createEmbeddedState({ clock: clock.read });
  }

  readonly shardOf = (name: string): string => name.split(':')[0]!;
  readonly probe = (name: string): Promise<void> => this.#reach(name, () => {});
  readonly reasonOf = (error: unknown): unknown => error;

  readonly isLive = true;

  listen(listener: (message: Message) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  publish(message: Message): void {
    for (const listener of this.#listeners) listener(message);
  }

  reportInDoubt(charges: InDoubtCharges): void {
    this.#inDoubt = charges;
  }

  answerLate(): void {
    for (const response of this.#late.splice(0)) response();
  }

  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): Promise<Admission> {
    this.asked++;
    return this.#reach(subject, () => {
      const admission = this.#state.admit(subject, limits, cost, scopes);
      if (this.troubles.get(this.shardOf(subject)) === 'late') {
        this.#inDoubt.begin(subject);
        this.#late.push(() =>
          this.#inDoubt.end(subject, admission.verdict === 'admitted' ? cost : 0, scopes),
        );
      }
      return admission;
    });
  }

  settle(subject: string, limits: Limits, settlement: Settlement): Promise<void> {
    return this.#reach(subject, () => {
      this.#state.settle(subject, limits, settlement);
      if (this.troubles.get(this.shardOf(subject)) !== 'late') return;
      const { units, scopes } = settlement;
      this.#inDoubt.begin(subject);
      this.#late.push(() => this.#inDoubt.end(subject, units, scopes));
    });
  }

  look(subject: string, limits: Limits): Promise<Admission> {
    return this.#reach(subject, () => this.#state.look(subject, limits));
  }

  strike(subject: string, limits: Limits): Promise<Admission> {
    return this.#reach(subject, () => this.#state.strike(subject, limits));
  }

  countRefusals({ subject, limits, count, times, cause }: CountedRefusals): Promise<Admission> {
    const scope = cause === IN_FLIGHT ? undefined : cause?.scope;
    const refuse = () => {
      if (cause === IN_FLIGHT) return this.#state.strike(subject, limits);
      return scope === undefined
        ? this.#state.admit(subject, limits, Infinity)
        : this.#state.admit(subject, limits, cause!.limit, [scope]);
    };
    return this.#reach(subject, () => {
      const { now } = this.#clock;
      let begun: Pick<Admission, 'banBegins' | 'banLevel'> = { banBegins: false };
      const earlier = new Array<number>(count - times.length).fill(times[0]!);
      for (const at of [...earlier, ...times]) {
        this.#clock.now = at;
        const { banBegins, banLevel } = refuse();
        if (banBegins) begun = { banBegins, ...(banLevel === undefined ? {} : { banLevel }) };
      }
      this.#clock.now = now;
      return { ...this.#state.look(subject, limits), ...begun };
    });
  }

  /** Charges all windows with as much as the fullest of them got, and returns the difference. */
  charge(
    subject: string,
    limits: Limits,
    { gateway, number, windows, ban }: Reconciliation,
  ): Promise<void> {
    return this.#reach(subject, () => {
      const mark = `${gateway} ${subject}`;
      if (number <= (this.#added.get(mark) ?? 0)) return;
      this.#added.set(mark, number);
      const most = Math.max(...windows.map(({ units }) => units));
      const wide = {
        ...limits,
        windows: limits.windows.map((window) => ({ ...window, limit: Infinity })),
      };
      const scopes = limits.windows.flatMap(({ scope }) => scope ?? []);
      this.#state.admit(subject, wide, most, scopes);
      for (const [i, window] of limits.windows.entries())
        void this.#state.grant(subject, limits, most - windows[i]!.units, fullNameOf(window));
      const remaining = (ban?.until ?? 0) - this.#clock.now;
      if (remaining > 0) void this.#state.ban(subject, limits, remaining);
    });
  }

  liftBan(subject: string): Promise<void> {
    return this.#change(subject, () => this.#state.liftBan(subject));
  }

  reset(subject: string): Promise<void> {
    return this.#change(subject, () => this.#state.reset(subject));
  }

  grant(subject: string, limits: Limits, units: number, window: string | null): Promise<void> {
    return this.#change(subject, () => this.#state.grant(subject, limits, units, window));
  }

  ban(subject: string, limits: Limits, length: number): Promise<void> {
    return this.#change(subject, () => this.#state.ban(subject, limits, length), true);
  }

  async bans(): Promise<Ban[]> {
    return this.#state.bans();
  }

  banLevel(subject: string, limits: Limits): Promise<number> {
    return this.#reach(subject, () => this.#state.banLevel(subject, limits));
  }

  close(): Promise<void> {
    return this.#state.close();
  }

  #change(subject: string, work: () => void, banned = false): Promise<void> {
    return this.#reach(subject, () => {
      work();
      this.publish({ type: 'subject', subject, banned });
    });
  }

  async #reach<T>(name: string, work: () => T): Promise<T> {
    const trouble = this.troubles.get(this.shardOf(name));
    if (trouble === 'down') throw new Outage('state_unavailable', { cause: new Error('down') });
    if (this.unfit.has(name))
      throw new Outage('state_unavailable', { cause: new CountersError(`${name} is unfit`) });
    const result = work();
    if (trouble) throw new Outage('state_unavailable', { cause: new Error('no response') });
    return result;
  }
}
