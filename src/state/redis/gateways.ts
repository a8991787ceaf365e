import { inTime } from './asking.ts';
import type { Connection } from './client.ts';
import { FLEET_MEMORY, GATEWAY_LIFE, GATEWAYS_LIFE, keyOf } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';
import { isInteger, shaped } from './shapes.ts';

const SCRIPT = loadScript('announce-1.lua');

/** Milliseconds. */
const LEAVING = 250;

/** The gateways that share one Redis. */
export interface Gateways {
  /** How many there are, as Redis last said; at least 1. */
  readonly count: () => number;
  close(): Promise<void>;
}

/** Says every few seconds that this gateway is there, until closed. `id` names it among all. */
export async function announce(redis: Connection, id: string): Promise<Gateways> {
  return announceEvery(redis, keyOf.gateways, id, await say(redis, keyOf.gateways, id));
}

/** The same while Redis is away: it is said as soon as Redis is there. `known`: how many there were when it was heard last. */
export function announceLater(redis: Connection, id: string, known: number): Gateways {
  return announceEvery(redis, keyOf.gateways, id, known);
}

/** The same in the list of gateways that can be asked, which remembers for a day those that did not stop by themselves. */
export function announceInFleet(redis: Connection, id: string): Gateways {
  const gateways = announceEvery(redis, keyOf.fleet, id, 1);
  // If this fails, it is said again soon.
  say(redis, keyOf.fleet, id).catch(() => {});
  return gateways;
}

async function say(redis: Connection, list: string, id: string): Promise<number> {
  const lives = list === keyOf.fleet ? [FLEET_MEMORY, FLEET_MEMORY] : [GATEWAY_LIFE, GATEWAYS_LIFE];
  return shaped(redis, 'announce', runScript(redis, SCRIPT, [list], [id, ...lives]), isInteger);
}

function announceEvery(redis: Connection, list: string, id: string, known: number): Gateways {
  let count = known;
  const sayAgain = async () => {
    count = await say(redis, list, id);
  };
  // While Redis is away the last count stands, because that is when it is needed.
  const timer = setInterval(() => sayAgain().catch(() => {}), GATEWAY_LIFE / 4).unref();
  return {
    count: () => count,
    async close() {
      clearInterval(timer);
      // If Redis does not hear this, it forgets the gateway after `GATEWAY_LIFE` of silence.
      await inTime(redis.zrem(list, id), LEAVING).catch(() => {});
    },
  };
}
