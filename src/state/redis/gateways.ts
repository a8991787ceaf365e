import type { Connection } from './client.ts';
import { GATEWAY_TTL, GATEWAYS_TTL, keyOf, PEER_MEMORY } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';
import { checkShape, isInteger } from './shapes.ts';
import { withOutageDeadline } from './timeouts.ts';

const SCRIPT = loadScript('announce-1.lua');

/** Milliseconds. */
const LEAVE_TIMEOUT = 250;

/** A list of gateways that share one Redis: those that run, or those that can be asked, remembered for a day unless they stop. */
type List = typeof keyOf.gateways | typeof keyOf.fleet;

/** The gateways in a list, of which this is one. */
export interface Gateways {
  /** How many there are, as Redis last said; at least 1. */
  readonly count: () => number;
  /** Says now that this gateway is there. */
  announce(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Says every few seconds that this gateway is there, until closed. `id` names it among all. `known`: how many there were when they
 * were heard last.
 */
export function joinGateways(redis: Connection, list: List, id: string, known = 1): Gateways {
  const lives = list === keyOf.fleet ? [PEER_MEMORY, PEER_MEMORY] : [GATEWAY_TTL, GATEWAYS_TTL];
  let count = known;
  async function announce(): Promise<void> {
    count = await checkShape(redis, 'announce', runScript(redis, SCRIPT, [list], [id, ...lives]), isInteger);
  }
  // While Redis is away the last count stands, because that is when it is needed.
  const timer = setInterval(() => announce().catch(() => {}), GATEWAY_TTL / 4).unref();
  return {
    count: () => count,
    announce,
    async close() {
      clearInterval(timer);
      // If Redis does not hear this, it forgets the gateway after `GATEWAY_LIFE` of silence.
      await withOutageDeadline(redis.zrem(list, id), LEAVE_TIMEOUT).catch(() => {});
    },
  };
}
