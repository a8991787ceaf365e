import { DelayedRun } from '../../common/delayed-run.ts';
import { Outage } from '../../common/errors/outage.ts';
import type { MaybePromise } from '../../common/maybe-promise.ts';
import { type Admission, uncounted } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import { NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import type { Settlement } from '../../limits/settlement.ts';
import type { Observe } from '../../observe/events.ts';
import {
  type Ban,
  type BansAsOf,
  type StartedBan,
  type State,
  startedBan,
} from '../state.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { StateClock } from './clock.ts';
import type { LastKnownCounters } from './last-known-counters.ts';
import { LocalCounters } from './local-counters.ts';
import { Reconciler } from './reconciliation.ts';
import { RefusalCache } from './refusal-cache.ts';
import type { Bus, OutageSettings, RemoteState } from './remote-state.ts';
import { type CountedRefusals, IN_FLIGHT } from './unsent-refusals.ts';

/** Milliseconds, and subjects per flush. */
const REFUSAL_FLUSH = 250;
const MAX_FLUSHED = 1_000;

interface SharedStateOptions {
  readonly remote: RemoteState;
  readonly breakers: CircuitBreakers;
  readonly bus: Bus;
  readonly settings: Pick<
    OutageSettings,
    'onOutage' | 'shareRemaining' | 'refusalCacheTtl'
  >;
  readonly gateway: string;
  readonly gateways: () => number;
  readonly observe: Observe;
  /** Persists last-known counters; `null`: not persisted. */
  readonly lastKnown?: LastKnownCounters | null;
  /** The estimate of Redis's clock, which its responses correct. */
  readonly clock?: StateClock;
}

/**
 * The state for a gateway. Known refusals are decided by this process, other requests by the
 * Redis, and requests during an outage by the operator's setting. A request sees Redis
 * failure only as `Outage` under the policy `deny`.
 */
export class SharedState implements State {
  readonly #options: SharedStateOptions;
  readonly #clock: StateClock;
  readonly #refused: RefusalCache;
  readonly #local: LocalCounters;
  readonly #reconciler: Reconciler;
  readonly #stopListening: () => void;
  #hearBan: (ban: StartedBan) => void = () => {};
  /**
   * Backend time of its last response to a request; 0: none, in this process and the previous one.
   */
  #answeredAt = 0;
  readonly #nextFlush = new DelayedRun(
    () => void this.#flushRefusals(),
    REFUSAL_FLUSH,
  );

  constructor(options: SharedStateOptions) {
    const {
      remote,
      breakers,
      bus,
      settings,
      gateway,
      gateways,
      clock = new StateClock(),
    } = options;
    const { lastKnown = null } = options;
    const changed = (subject: string) => lastKnown?.mark(subject);
    this.#options = options;
    this.#clock = clock;
    this.#refused = new RefusalCache({
      clock: clock.read,
      ttl: settings.refusalCacheTtl,
    });
    this.#local = new LocalCounters({
      gateway,
      clock: clock.read,
      gateways: settings.shareRemaining ? gateways : () => 1,
      changed,
      superseded: (subject, due) => this.#reconciler.add(subject, [due]),
    });
    this.#reconciler = new Reconciler({
      remote,
      local: this.#local,
      breakers,
      changed,
    });
    if (lastKnown) this.#takeUp(lastKnown);
    remote.reportInDoubt({
      ...this.#local.inDoubt,
      banned: (ban) => this.#hearBan(ban),
    });
    this.#stopListening = bus.listen((message) => {
      if (message.type === 'subject')
        this.#forget(message.subject, message.banned);
      else if (message.type === 'anything') this.#refused.clear();
    });
    breakers.onRecovery(() => void this.#reconciler.sendAll());
  }

  get size(): number {
    return this.#local.known;
  }

  get unreconciled(): number {
    return this.#reconciler.size;
  }

  /** Reports bans to `hear` that began with a request whose response did not include the ban. */
  onBan(hear: (ban: StartedBan) => void): void {
    this.#hearBan = hear;
  }

  admit(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes = NO_SCOPES,
  ): MaybePromise<Admission> {
    const refusal = this.#refused.answer(subject, limits, cost, scopes);
    if (refusal) {
      this.#nextFlush.plan();
      return refusal;
    }
    if (!this.#options.breakers.of(subject).isOpen)
      return this.#ask(subject, limits, cost, scopes);
    return this.#decideLocally(subject, limits, cost, scopes, null);
  }

  /** During an outage it counts here until Redis adds it. */
  async settle(
    subject: string,
    limits: Limits,
    settlement: Settlement,
  ): Promise<void> {
    // Returned units may admit a request that this process knows as refused.
    if (settlement.units < 0) this.#refused.forget(subject);
    const breaker = this.#options.breakers.of(subject);
    if (breaker.isOpen || this.#local.has(subject))
      return this.#settleLocally(subject, limits, settlement);
    try {
      await this.#options.remote.settle(subject, limits, settlement);
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      this.#options.breakers.recordFailure(breaker, error);
      this.#settleLocally(subject, limits, settlement);
    }
  }

  #settleLocally(
    subject: string,
    limits: Limits,
    settlement: Settlement,
  ): void {
    if (this.#options.settings.onOutage === 'allow') return;
    this.#local.settle(subject, limits, settlement);
    this.#reconciler.sendLater();
  }

  /** The strike is sent with the next refusals; during an outage it is lost. */
  strike(subject: string, limits: Limits): null {
    this.#refused.unsent.add(subject, limits, IN_FLIGHT, this.#clock.read());
    this.#nextFlush.plan();
    return null;
  }

  look(subject: string, limits: Limits): MaybePromise<Admission> {
    return this.#options.remote.look(subject, limits);
  }

  async liftBan(subject: string): Promise<void> {
    await this.#options.remote.liftBan(subject);
    this.#forget(subject);
  }

  async reset(subject: string): Promise<void> {
    await this.#options.remote.reset(subject);
    this.#forget(subject);
  }

  async grant(
    subject: string,
    limits: Limits,
    units: number,
    window: string | null,
  ): Promise<void> {
    await this.#options.remote.grant(subject, limits, units, window);
    this.#forget(subject);
  }

  bans(): MaybePromise<Ban[]> {
    return this.#options.remote.bans();
  }

  /** `null`: no subject is known. */
  get bansAsOf(): BansAsOf | null {
    return this.#answeredAt === 0
      ? null
      : { asOf: this.#answeredAt, bans: this.#local.bans() };
  }

  banLevel(subject: string, limits: Limits): MaybePromise<number> {
    return this.#options.remote.banLevel(subject, limits);
  }

  async ban(subject: string, limits: Limits, length: number): Promise<void> {
    await this.#options.remote.ban(subject, limits, length);
    this.#forget(subject, true);
  }

  async close(): Promise<void> {
    this.#nextFlush.close();
    this.#stopListening();
    await this.#flushRefusals();
    await this.#reconciler.close();
    await this.#options.lastKnown?.close();
    await this.#options.remote.close();
  }

  /** Restores the data of an earlier process of this gateway and sends its reconciliations. */
  #takeUp(lastKnown: LastKnownCounters): void {
    const [local, reconciler] = [this.#local, this.#reconciler];
    for (const [subject, { known, dues }] of lastKnown.load()) {
      if (known) {
        local.restore(subject, known);
        this.#answeredAt = Math.max(this.#answeredAt, known.admission.now);
      }
      reconciler.add(subject, dues);
    }
    lastKnown.begin({
      get size() {
        return local.known + reconciler.size;
      },
      *names() {
        yield* local.names();
        yield* reconciler.subjects();
      },
      // Also for an unknown subject, to replace its stored entry.
      read: (subject) => ({
        known: local.lastKnown(subject),
        dues: reconciler.dues(subject),
      }),
    });
    if (reconciler.size > 0) void reconciler.sendAll();
  }

  async #ask(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes,
  ): Promise<Admission> {
    const breaker = this.#options.breakers.of(subject);
    const { changes } = this.#refused;
    // Local counts of an outage go first, on the same connection.
    if (this.#reconciler.has(subject)) void this.#reconciler.sendOne(subject);
    const askedAt = performance.now();
    try {
      const admission = await this.#options.remote.admit(
        subject,
        limits,
        cost,
        scopes,
      );
      this.#options.observe({
        type: 'state.answered',
        duration: performance.now() - askedAt,
      });
      breaker.recordSuccess();
      this.#clock.learn(admission.now);
      this.#answeredAt = admission.now;
      if (this.#local.has(subject))
        return this.#held(subject, limits, cost, scopes, admission);
      this.#local.note(subject, admission);
      this.#refused.remember(subject, limits, cost, scopes, admission, changes);
      return admission;
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      this.#options.breakers.recordFailure(breaker, error);
      this.#reconciler.sendLater();
      return this.#decideLocally(subject, limits, cost, scopes, error.cause);
    }
  }

  #held(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes,
    admission: Admission,
  ): Admission {
    if (admission.verdict !== 'admitted') return admission;
    const held = this.#local.hold(subject, limits, cost, scopes);
    return held.verdict === 'admitted' ? admission : held;
  }

  #decideLocally(
    subject: string,
    limits: Limits,
    cost: number,
    scopes: Scopes,
    cause: unknown,
  ): Admission {
    const { onOutage: policy } = this.#options.settings;
    this.#options.observe({ type: 'state.local_mode', policy });
    if (policy === 'deny')
      throw new Outage('state_unavailable', {
        cause: cause ?? 'the shared state is down',
      });
    if (policy === 'allow')
      return { ...uncounted(limits, this.#clock.read()), by: 'local' };
    return { ...this.#local.admit(subject, limits, cost, scopes), by: 'local' };
  }

  /** A message of a ban may be older than the known ban, so it does not remove that ban. */
  #forget(subject: string, banned = false): void {
    this.#refused.forget(subject);
    if (!banned) this.#local.forget(subject);
  }

  async #flushRefusals(): Promise<void> {
    const unsent = this.#refused.unsent.take(MAX_FLUSHED);
    if (unsent.length > 0) this.#nextFlush.plan();
    await Promise.all(unsent.map((one) => this.#send(one)));
  }

  /** Lost refusals are acceptable; later ones follow. */
  async #send(refusals: CountedRefusals): Promise<void> {
    const { subject, limits, cause } = refusals;
    const { changes } = this.#refused;
    const breaker = this.#options.breakers.of(subject);
    if (breaker.isOpen) return;
    try {
      const admission = await this.#options.remote.countRefusals(refusals);
      const ban = startedBan(subject, limits, admission);
      if (ban)
        this.#hearBan({ ...ban, violated: cause === IN_FLIGHT ? null : cause });
      if (this.#refused.apply(refusals, admission, changes))
        this.#local.note(subject, admission);
    } catch (error) {
      this.#options.breakers.recordFailure(breaker, error);
    }
  }
}
