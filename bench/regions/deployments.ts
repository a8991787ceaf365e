import { type Admission, admit, look, remainingIn } from '../../src/limits/admission.ts';
import { type Counters, newCounters } from '../../src/limits/counters.ts';
import type { Limits } from '../../src/limits/limits.ts';
import { NO_SCOPES } from '../../src/limits/scopes.ts';
import { createLocalCounters, type LocalCounters } from '../../src/state/shared/local-counters.ts';
import { createRefusalCache, type RefusalCache } from '../../src/state/shared/refusal-cache.ts';
import { shareOf } from '../../src/state/shared/shares.ts';
import { planOf, type Request, type World } from './traffic.ts';

/** Decides one request as the state of a gateway does. */
export interface Deployment {
  readonly name: string;
  readonly redis: readonly Redis[];
  /** Requests that waited for a Redis in another region. */
  readonly remote: number;
  admit(request: Request): boolean;
}

/** Milliseconds; the default of `redis.refusalCacheTtl`. */
const TTL = 5_000;
/** Milliseconds. Admissions of one turn of a gateway's event loop share a call. */
const TURN = 1;

/** Counters exist from the first request of a key on, as in Redis. */
export class Redis {
  readonly #counters = new Map<number, Counters>();
  readonly #turns = new Map<number, number>();
  calls = 0;
  decisions = 0;

  get subjects(): number {
    return this.#counters.size;
  }

  admit({ key, at }: Request, limits: Limits, cost = 1): Admission {
    return admit(this.#of(key, limits), limits, cost, at);
  }

  remaining({ key, at }: Request, limits: Limits): number {
    return remainingIn(look(this.#of(key, limits), limits, at).readings[0]!);
  }

  called({ gateway, at }: Request): void {
    const turn = Math.floor(at / TURN);
    if (this.#turns.get(gateway) !== turn) this.calls++;
    this.#turns.set(gateway, turn);
    this.decisions++;
  }

  #of(key: number, limits: Limits): Counters {
    let counters = this.#counters.get(key);
    if (!counters) {
      counters = newCounters(limits.windows);
      this.#counters.set(key, counters);
    }
    return counters;
  }
}

type Decide = (request: Request, limits: Limits) => Admission;

/** Every gateway repeats refusals from memory, whatever the deployment is. */
abstract class WithGateways implements Deployment {
  abstract readonly name: string;
  abstract readonly redis: readonly Redis[];
  remote = 0;
  protected now = 0;
  readonly #world: World;
  readonly #refusals: readonly RefusalCache[];

  constructor(world: World) {
    this.#world = world;
    this.#refusals = Array.from({ length: world.gateways }, () =>
      createRefusalCache({ clock: () => this.now, ttl: TTL }),
    );
  }

  protected abstract readonly decide: Decide;

  admit(request: Request): boolean {
    this.now = request.at;
    const limits = planOf(request.key, this.#world);
    const subject = `key_${request.key}`;
    const refusals = this.#refusals[request.gateway]!;
    const charge = { subject, limits, cost: 1, scopes: NO_SCOPES };
    if (refusals.answer(charge)) return false;
    const admission = this.decide(request, limits);
    refusals.remember(charge, admission, refusals.changes);
    return admission.verdict === 'admitted';
  }
}

export class OneRedis extends WithGateways {
  readonly name: string = 'one Redis';
  readonly redis = [new Redis()];

  protected readonly decide: Decide = (request, limits) => {
    if (request.region !== 0) this.remote++;
    this.redis[0]!.called(request);
    return this.redis[0]!.admit(request, limits);
  };
}

export class RedisPerRegion extends WithGateways {
  readonly name: string;
  readonly redis: readonly Redis[];
  readonly #limitsOf: (limits: Limits) => Limits;

  constructor(world: World, { divided }: { divided: boolean }) {
    super(world);
    this.name = `Redis per region, ${divided ? 'divided' : 'whole'} limits`;
    this.redis = Array.from({ length: world.regions }, () => new Redis());
    this.#limitsOf = divided ? (limits) => shareOf(limits, world.regions) : (limits) => limits;
  }

  protected readonly decide: Decide = (request, limits) => {
    const redis = this.redis[request.region]!;
    redis.called(request);
    return redis.admit(request, this.#limitsOf(limits));
  };
}

interface Lease {
  left: number;
  readonly until: number;
  readonly admission: Admission;
}

/** A lease is this part of a limit. */
const LEASE = 1 / 16;

/**
 * Each region takes units from the Redis of region 0 in advance, and loses at the end of the window
 * what it did not use.
 */
export class Leases extends WithGateways {
  readonly name = 'Redis per region, leased limits';
  readonly redis: readonly Redis[];
  readonly #leases: readonly Map<number, Lease>[];

  constructor(world: World) {
    super(world);
    this.redis = Array.from({ length: world.regions }, () => new Redis());
    this.#leases = this.redis.map(() => new Map());
  }

  protected readonly decide: Decide = (request, limits) => {
    const leases = this.#leases[request.region]!;
    this.redis[request.region]!.called(request);
    let lease = leases.get(request.key);
    if (
      !lease ||
      request.at >= lease.until ||
      (lease.left === 0 && lease.admission.verdict === 'admitted')
    ) {
      lease = this.#take(request, limits);
      leases.set(request.key, lease);
    }
    if (lease.left > 0) lease.left--;
    return lease.admission;
  };

  #take(request: Request, limits: Limits): Lease {
    const central = this.redis[0]!;
    if (request.region !== 0) {
      this.remote++;
      central.called(request);
    }
    const { limit } = limits.windows[0]!;
    const units = Math.min(
      central.remaining(request, limits),
      Math.max(1, Math.floor(limit * LEASE)),
    );
    const admission = central.admit(request, limits, Math.max(1, units));
    return { left: units, until: admission.readings[0]!.resetAt, admission };
  }
}

/** From `from` on each gateway counts by itself (`redis.onOutage: local`). */
export class OneRedisFails extends OneRedis {
  override readonly name = 'one Redis, down in the last minute';
  readonly #local: readonly LocalCounters[];
  readonly #from: number;

  constructor(world: World) {
    super(world);
    this.#from = (world.seconds - 60) * 1_000;
    const options = { clock: () => this.now, gateways: () => world.gateways };
    this.#local = Array.from({ length: world.gateways }, (_, i) =>
      createLocalCounters({ gateway: `${i}`, ...options }),
    );
  }

  protected override readonly decide: Decide = (request, limits) => {
    const [redis, local] = [this.redis[0]!, this.#local[request.gateway]!];
    const subject = `key_${request.key}`;
    if (request.at >= this.#from)
      return local.admit({ subject, limits, cost: 1, scopes: NO_SCOPES });
    if (request.region !== 0) this.remote++;
    redis.called(request);
    const admission = redis.admit(request, limits);
    local.note(subject, admission);
    return admission;
  };
}
