import { randomUUID } from 'node:crypto';
import type { Observe } from '../../observe/events.ts';
import type { Records, Remembered } from '../embedded.ts';
import type { State } from '../state.ts';
import { openBus } from './bus.ts';
import { checkRedis } from './checks.ts';
import { connect } from './client.ts';
import { announce } from './gateways.ts';
import { createLanes } from './lanes.ts';
import { recordsInRedis } from './records.ts';
import { RedisState } from './redis.ts';
import type { RedisSettings } from './settings.ts';
import { SharedState } from './shared.ts';

/** Milliseconds that a command may wait for the state. */
const PATIENCE = 2_000;

/** What commands need beside running gateways: no gateway is announced. Throws RedisError, with nothing left open. */
export async function openBeside(settings: RedisSettings): Promise<Records & { state: State; close: () => void }> {
  const redis = await connect(settings);
  const lanes = createLanes(redis, settings, () => {});
  // Nobody listens: a command is over before anything could change under it.
  const bus = { listen: () => () => {}, close: () => {} };
  return {
    ...recordsInRedis(redis, { bus, lanes, deadline: PATIENCE }),
    state: new RedisState(redis, { deadline: PATIENCE }),
    close() {
      lanes.close();
      redis.disconnect();
    },
  };
}

/** State that several gateways share. Throws RedisError, with nothing left open. */
export async function openRedis(settings: RedisSettings, { observe }: { observe: Observe }): Promise<Remembered> {
  const redis = await connect(settings);
  try {
    for (const warning of await checkRedis(redis)) observe({ type: 'state.warning', warning });
    const id = randomUUID();
    const bus = await openBus(redis);
    const gateways = await announce(redis, id);
    const lanes = createLanes(redis, settings, observe);
    const { deadline } = settings;
    const state = new SharedState({
      redis: (doubts) => new RedisState(redis, { deadline, doubts }),
      lanes,
      bus,
      settings,
      gateway: id,
      gateways: gateways.count,
      observe,
    });
    return {
      state,
      ...recordsInRedis(redis, { bus, lanes, deadline }),
      recheckKeysAfter: settings.keysFor,
      kind: `redis, ${settings.topology}`,
      ready: () => settings.readyWhenAway || !lanes.away,
      async close() {
        await state.close();
        lanes.close();
        await gateways.close();
        bus.close();
        redis.disconnect();
      },
    };
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}
