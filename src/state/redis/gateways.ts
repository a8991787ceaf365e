import type { Connection } from './client.ts';
import { GATEWAY_TTL, GATEWAYS_TTL, keyOf, PEER_MEMORY } from './key-names.ts';
import { checkShape, isInteger } from './replies.ts';
import { loadScript, runScript } from './scripts.ts';
import { withOutageDeadline } from './timeouts.ts';

const SCRIPT = loadScript('announce-1.lua');

/** Milliseconds. */
const LEAVE_TIMEOUT = 250;

/** Running gateways, or gateways that accept queries; these are kept for a day unless they stop. */
type List = typeof keyOf.gateways | typeof keyOf.peers;

/** Registers this gateway every few seconds. `id` is unique among gateways. `known`: their last known number. */
export function joinGateways(redis: Connection, list: List, id: string, known = 1) {
  const lives = list === keyOf.peers ? [PEER_MEMORY, PEER_MEMORY] : [GATEWAY_TTL, GATEWAYS_TTL];
  let count = known;
  async function announce(): Promise<void> {
    count = await checkShape(redis, 'announce', runScript(redis, SCRIPT, [list], [id, ...lives]), isInteger);
  }
  // During an outage the last count is needed, so it remains.
  const timer = setInterval(() => announce().catch(() => {}), GATEWAY_TTL / 4).unref();
  return {
    /** At least 1. */
    count: () => count,
    announce,
    async close() {
      clearInterval(timer);
      // On failure Redis removes the gateway after `GATEWAY_TTL`.
      await withOutageDeadline(redis.zrem(list, id), LEAVE_TIMEOUT).catch(() => {});
    },
  };
}
