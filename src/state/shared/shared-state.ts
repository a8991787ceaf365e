import type { Eventually } from '../../common/eventually.ts';
import type { RedisSettings } from '../../config/config.ts';
import { Outage } from '../../errors/outage.ts';
import type { Admission } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Observe } from '../../observe/events.ts';
import type { Bus } from '../redis/bus.ts';
import type { InDoubtCharges, RedisState } from '../redis/counters.ts';
import { ForeignKeyError } from '../redis/packing.ts';
import type { Ban, State } from '../state.ts';
import type { CircuitBreakers } from './circuit-breakers.ts';
import { RedisClock } from './clock.ts';
import { LocalCounts } from './local-counts.ts';
import { Reconciler } from './reconciliation.ts';
import { Refused } from './refused.ts';

/** How often strikes are sent on, milliseconds, and of how many subjects at a time. */
const STRIKE_BEAT = 250;
const MOST_STRUCK = 1_000;

export interface SharedStateOptions {
  /** The state, told who must hear of doubts. */
  readonly redis: (inDoubt: InDoubtCharges) => RedisState;
  readonly breakers: CircuitBreakers;
  readonly bus: Bus;
  readonly settings: Pick<RedisSettings, 'whenAway' | 'divide' | 'refusedFor'>;
  /** Names this gateway among those that share the Redis. */
  readonly gateway: string;
  readonly gateways: () => number;
  readonly observe: Observe;
}

/**
 * What a gateway asks: Redis; its own memory for subjects known to be refused; and what the operator chose while Redis is
 * away. Never rejects because of Redis but with `Outage`, and only under the policy `deny`.
 */
export class SharedState implements State {
  readonly #redis: RedisState;
  readonly #breakers: CircuitBreakers;
  readonly #policy: RedisSettings['whenAway'];
  readonly #observe: Observe;
  readonly #clock = new RedisClock();
  readonly #refused: Refused;
  readonly #local: LocalCounts;
  readonly #reconciler: Reconciler;
  readonly #stopListening: () => void;
  readonly #beat: NodeJS.Timeout;
  #warnAgainAt = 0;

  constructor({ redis, breakers, bus, settings, gateway, gateways, observe }: SharedStateOptions) {
    this.#breakers = breakers;
    this.#policy = settings.whenAway;
    this.#observe = observe;
    this.#refused = new Refused({ clock: this.#clock.read, keepFor: settings.refusedFor });
    this.#local = new LocalCounts({ gateway, clock: this.#clock.read, gateways: settings.divide ? gateways : () => 1 });
    this.#redis = redis(this.#local.inDoubt);
    this.#reconciler = new Reconciler({ redis: this.#redis, local: this.#local, breakers });
    this.#stopListening = bus.listen((message) => {
      if (message.type === 'subject') this.#forget(message.subject, message.banned);
      else if (message.type === 'anything') this.#refused.clear();
    });
    this.#beat = setInterval(() => void this.#sendStrikes(), STRIKE_BEAT).unref();
    breakers.recovered(() => void this.#reconciler.all());
  }

  /** Subjects that are remembered here. */
  get size(): number {
    return this.#local.known;
  }

  /** Subjects that wait for what was counted here to be added in Redis. */
  get unreconciled(): number {
    return this.#reconciler.size;
  }

  admit(subject: string, limits: Limits, cost: number): Eventually<Admission> {
    const refusal = this.#refused.answer(subject, limits, cost);
    if (refusal) return refusal;
    const breaker = this.#breakers.of(subject);
    return breaker.isOpen ? this.#decideAlone(subject, limits, cost, null) : this.#ask(subject, limits, cost);
  }

  look(subject: string, limits: Limits): Promise<Admission> {
    return this.#redis.look(subject, limits);
  }

  async pardon(subject: string): Promise<void> {
    await this.#redis.pardon(subject);
    this.#forget(subject);
  }

  async reset(subject: string): Promise<void> {
    await this.#redis.reset(subject);
    this.#forget(subject);
  }

  async grant(subject: string, limits: Limits, units: number, window: string | null): Promise<void> {
    await this.#redis.grant(subject, limits, units, window);
    this.#forget(subject);
  }

  bans(): Promise<Ban[]> {
    return this.#redis.bans();
  }

  rung(subject: string, limits: Limits): Promise<number> {
    return this.#redis.rung(subject, limits);
  }

  async ban(subject: string, limits: Limits, length: number): Promise<void> {
    await this.#redis.ban(subject, limits, length);
    this.#forget(subject, true);
  }

  /** Sends on what Redis has yet to hear, as far as it can be reached. */
  async close(): Promise<void> {
    clearInterval(this.#beat);
    this.#stopListening();
    await this.#sendStrikes();
    await this.#reconciler.all();
    await this.#redis.close();
  }

  async #ask(subject: string, limits: Limits, cost: number): Promise<Admission> {
    const breaker = this.#breakers.of(subject);
    const { changes } = this.#refused;
    // What was counted here meanwhile goes first, on the same connection.
    if (this.#local.has(subject)) this.#reconciler.one(subject);
    try {
      const admission = await this.#redis.admit(subject, limits, cost);
      breaker.hit();
      this.#clock.learn(admission.now);
      this.#local.note(subject, admission);
      this.#refused.remember(subject, limits, cost, admission, changes);
      return admission;
    } catch (error) {
      if (!(error instanceof Outage)) throw error;
      // One subject's key is foreign: Redis itself is well.
      if (error.cause instanceof ForeignKeyError) this.#warn(error.cause.message);
      else breaker.miss(error.cause);
      return this.#decideAlone(subject, limits, cost, error.cause);
    }
  }

  #decideAlone(subject: string, limits: Limits, cost: number, cause: unknown): Admission {
    this.#observe({ type: 'state.alone', policy: this.#policy });
    if (this.#policy === 'deny')
      throw new Outage('state_unavailable', { cause: cause ?? 'Redis is away', headers: ['Retry-After', '1'] });
    if (this.#policy === 'allow') return unchecked(limits, this.#clock.read());
    return this.#local.admit(subject, limits, cost);
  }

  /** At most one a minute, whatever the traffic. */
  #warn(warning: string): void {
    const now = performance.now();
    if (now < this.#warnAgainAt) return;
    this.#warnAgainAt = now + 60_000;
    this.#observe({ type: 'state.warning', warning });
  }

  /** A ban that is known here may be newer than the message of it, so a message of a ban makes no ban unknown. */
  #forget(subject: string, banned = false): void {
    this.#refused.forget(subject);
    if (!banned) this.#local.forget(subject);
  }

  async #sendStrikes(): Promise<void> {
    await Promise.all(
      this.#refused.takeStrikes(MOST_STRUCK).map(async (strikes) => {
        const { changes } = this.#refused;
        const breaker = this.#breakers.of(strikes.subject);
        if (breaker.isOpen) return;
        try {
          const standing = await this.#redis.strike(strikes.subject, strikes.limits, strikes.times);
          if (this.#refused.struck(strikes, standing, changes)) this.#local.note(strikes.subject, standing);
        } catch (error) {
          // These strikes are lost; the next ones will do.
          breaker.miss((error as Outage).cause);
        }
      }),
    );
  }
}

/** Under `allow` nothing is counted: every window reads as untouched. */
function unchecked(limits: Limits, now: number): Admission {
  const readings = limits.windows.map((window) => ({ window, remaining: window.limit, resetAt: now + window.span }));
  return {
    verdict: 'admitted',
    now,
    readings,
    retryAt: 0,
    violated: null,
    strikes: 0,
    bannedUntil: 0,
    banBegins: false,
  };
}
