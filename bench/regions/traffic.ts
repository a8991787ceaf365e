import type { Limits } from '../../src/limits/limits.ts';

export interface World {
  readonly regions: number;
  readonly gateways: number;
  readonly keys: number;
  /** Requests per second of all keys. */
  readonly rate: number;
  readonly seconds: number;
  /** Share of a key's requests that come from its own region; the others come from any. */
  readonly home: number;
}

export interface Request {
  /** Milliseconds. */
  readonly at: number;
  /** By falling rate, from 1. */
  readonly key: number;
  readonly region: number;
  readonly gateway: number;
}

const SPAN = 60_000;
/** Minute limits of the plans: 60, 300, 1,500 and so on. */
const [SMALLEST, FACTOR] = [60, 5];

/**
 * Keys by Zipf's law with exponent 1, at an even pace. The same each time, so that deployments can
 * be compared.
 */
export function* requests({
  regions,
  gateways,
  keys,
  rate,
  seconds,
  home,
}: World): Generator<Request> {
  const random = seeded(1);
  const perRegion = gateways / regions;
  const reach = Math.log(keys + 1);
  for (let i = 0; i < rate * seconds; i++) {
    const key = Math.floor(Math.exp(random() * reach));
    const region = random() < home ? key % regions : Math.floor(random() * regions);
    const gateway = region * perRegion + Math.floor(random() * perRegion);
    yield { at: (i * 1_000) / rate, key, region, gateway };
  }
}

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const plans = new Map<number, Limits>();

/**
 * The smallest plan that admits all requests of the key; a tenth of the keys have the plan below.
 */
export function planOf(key: number, { rate, keys }: World): Limits {
  const offered = (60 * rate * Math.log((key + 1) / key)) / Math.log(keys + 1);
  const fitting = Math.max(0, Math.ceil(Math.log(offered / SMALLEST) / Math.log(FACTOR)));
  return planAt(key % 10 === 0 ? Math.max(0, fitting - 1) : fitting);
}

/** Without bans: they would hide what the limits admit. */
function planAt(level: number): Limits {
  let plan = plans.get(level);
  if (!plan) {
    const limit = SMALLEST * FACTOR ** level;
    plan = { windows: [{ name: 'minute', kind: 'fixed', limit, span: SPAN }], escalation: null };
    plans.set(level, plan);
  }
  return plan;
}
