import { inTime } from './asking.ts';
import type { Connection } from './client.ts';
import { GATEWAY_LIFE, GATEWAYS_LIFE, keyOf } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';

const SCRIPT = loadScript('announce-1.lua');

/** Milliseconds. */
const FAREWELL = 250;

/** The gateways that share one Redis. */
export interface Gateways {
  /** As of the last time Redis was heard; at least 1. */
  readonly count: () => number;
  close(): Promise<void>;
}

/** Announces this gateway until closed. */
export async function announce(redis: Connection, id: string): Promise<Gateways> {
  let count = 1;
  const say = async () => {
    count = (await runScript(redis, SCRIPT, [keyOf.gateways], [id, GATEWAY_LIFE, GATEWAYS_LIFE])) as number;
  };
  await say();
  // While Redis is away the last count stands: it is needed exactly then.
  const timer = setInterval(() => say().catch(() => {}), GATEWAY_LIFE / 4).unref();
  return {
    count: () => count,
    async close() {
      clearInterval(timer);
      // Where Redis cannot be told, this gateway falls silent and is forgotten by itself.
      await inTime(redis.zrem(keyOf.gateways, id), FAREWELL).catch(() => {});
    },
  };
}
