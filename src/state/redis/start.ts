import { Cluster } from 'ioredis';
import type { RedisSettings } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import type { Bus } from '../shared/bus.ts';
import type { KeyCopy } from '../shared/key-copy/copy.ts';
import { openBus, openBusInBackground } from './bus.ts';
import { checkRedis, unusable, watchWarnings } from './checks.ts';
import { type Connection, connect, connectInBackground } from './client.ts';
import { ClusterData } from './cluster-data.ts';
import { type DataCheck, DataMark } from './data-mark.ts';
import { RedisError } from './error.ts';
import { announce, announceLater, type Gateways } from './gateways.ts';
import { disconnect } from './lasting.ts';
import { checkLater } from './late-checks.ts';

/** Milliseconds that a start waits for a Redis that hangs, where it can go on without. */
const PATIENCE = 2_000;

/** What a gateway has of Redis after its start. */
export interface Started {
  readonly redis: Connection;
  readonly bus: Bus;
  readonly gateways: Gateways;
  /** Why Redis is away since the start; `null`: it was there. */
  readonly absence: RedisError | null;
  readonly data: DataCheck;
  /** Whether Redis has passed the checks of a start. One that was away at the start is checked when it is there. */
  readonly checks: { readonly passed: boolean };
  close(): Promise<void>;
}

export interface StartOptions {
  readonly observe: Observe;
  /** Names this gateway among all that share Redis; `null`: it is none of them, because its workers are. */
  readonly id: string | null;
  /** Whether a primary process has checked Redis, and tells what there is to tell. */
  readonly isWorker: boolean;
  /** What to serve from where Redis is away; `null`: then there is no start. */
  readonly copy: Pick<KeyCopy, 'unusable' | 'age' | 'gateways'> | null;
  /** For tests: milliseconds until the settings of Redis are looked at again. */
  readonly lookAgain?: number;
}

const NONE: Gateways = { count: () => 1, close: async () => {} };

/**
 * Starts on Redis. Where Redis is away and the copy of its keys can be used, starts without, and takes Redis up when it is
 * there. Throws RedisError, and leaves nothing open then: where Redis refuses, or there is no copy to use.
 */
export async function startOn(settings: RedisSettings, options: StartOptions): Promise<Started> {
  const { copy, isWorker, observe } = options;
  const missing = copy ? copy.unusable : '';
  try {
    return await startWith(settings, options, missing === null ? PATIENCE : undefined);
  } catch (error) {
    const refusal = error instanceof RedisError ? error : unusable(error);
    if (!refusal.isAway || missing === '') throw refusal;
    if (missing !== null) throw new RedisError(`${refusal.message}; ${missing}`, { cause: error, isAway: true });
    if (!isWorker) observe({ type: 'state.absent', reason: refusal.message, copyAge: copy!.age });
    return startWithout(settings, options, refusal);
  }
}

async function startWith(settings: RedisSettings, options: StartOptions, patience?: number): Promise<Started> {
  const { observe, id, isWorker, lookAgain } = options;
  const redis = await connect(settings, patience);
  const ends = [() => disconnect(redis)];
  const end = () => {
    for (const one of ends.splice(0).reverse()) one();
  };
  try {
    if (!isWorker) ends.push(tellWarnings(redis, observe, await checkRedis(redis), lookAgain));
    const bus = await openBus(redis, observe);
    ends.push(bus.close);
    const data = dataIn(redis, observe);
    await data.learn();
    const gateways = id === null ? NONE : await announce(redis, id);
    const close = () => gateways.close().finally(end);
    return { redis, bus, gateways, data, absence: null, checks: { passed: true }, close };
  } catch (error) {
    end();
    throw error;
  }
}

function startWithout(settings: RedisSettings, options: StartOptions, absence: RedisError): Started {
  const { observe, id, isWorker, copy, lookAgain } = options;
  const redis = connectInBackground(settings);
  const bus = openBusInBackground(redis, observe);
  const gateways = id === null ? NONE : announceLater(redis, id, copy!.gateways);
  let stopTelling = () => {};
  const checks = checkLater(redis, settings, {
    passed(warnings) {
      if (!isWorker) stopTelling = tellWarnings(redis, observe, warnings, lookAgain);
    },
    unfit(reason) {
      if (!isWorker) observe({ type: 'state.unfit', reason });
    },
  });
  return {
    redis,
    bus,
    gateways,
    data: dataIn(redis, observe),
    absence,
    checks,
    async close() {
      checks.stop();
      stopTelling();
      await gateways.close();
      bus.close();
      disconnect(redis);
    },
  };
}

const LOST = 'Redis has lost its data, or was emptied: keys that it does not have are unknown from now on';

function dataIn(redis: Connection, observe: Observe): DataCheck {
  const lost = () => observe({ type: 'state.warning', warning: LOST });
  return redis instanceof Cluster ? new ClusterData(redis, { lost }) : new DataMark(redis, { lost });
}

/** Tells the warnings there are, and from then on each new one. Returns a function that ends this. */
function tellWarnings(redis: Connection, observe: Observe, warnings: readonly string[], lookAgain?: number) {
  const tell = (warning: string) => observe({ type: 'state.warning', warning });
  for (const warning of warnings) tell(warning);
  return watchWarnings(redis, warnings, tell, lookAgain);
}
