import { randomUUID } from 'node:crypto';
import { Cluster } from 'ioredis';
import { MINUTE } from '../../common/time.ts';
import type { Observe } from '../../observe/events.ts';
import type { Connection } from './client.ts';
import { messages, RedisError } from './error.ts';
import { CHANNEL, keyOf, PROBE_TTL } from './key-names.ts';
import { loadScript, runScript } from './scripts.ts';

/** The first version whose scripts may write after reading the clock, and replicate effects. */
const MIN_VERSION = '6.2';
/** Milliseconds. Operators change settings at run time. */
const CHECK_INTERVAL = MINUTE;

/** Returns warnings. Throws RedisError if Redis lacks what the gateway needs. */
export async function checkRedis(redis: Connection): Promise<string[]> {
  const infos = await infosOf(redis);
  for (const info of infos) checkVersion(info);
  await tryScript(redis);
  return warningsIn(infos);
}

/** Reports `warnings`, and each new one. Returns a function that stops it. */
export function reportWarnings(
  redis: Connection,
  warnings: readonly string[],
  observe: Observe,
  every = CHECK_INTERVAL,
): () => void {
  let known: readonly string[] = [];
  const report = (found: readonly string[]) => {
    for (const warning of found) if (!known.includes(warning)) observe({ type: 'state.warning', warning });
    known = found;
  };
  report(warnings);
  const look = async () => report(warningsIn(await infosOf(redis)));
  // During an outage, requests report it.
  const timer = setInterval(() => look().catch(() => {}), every).unref();
  return () => clearInterval(timer);
}

function infosOf(redis: Connection): Promise<string[]> {
  const nodes = redis instanceof Cluster ? redis.nodes('master') : [redis];
  return Promise.all(nodes.map((node) => node.info().catch(unavailableInfo)));
}

function warningsIn(infos: readonly string[]): string[] {
  return [...new Set(infos.flatMap(evictionWarning))];
}

/** A user without the right to INFO gets no warnings. `tryScript` still checks permissions. */
function unavailableInfo(error: unknown): string {
  if (error instanceof Error && error.message.startsWith('NOPERM')) return '';
  throw error;
}

function checkVersion(info: string): void {
  const version = /^redis_version:(\S+)/m.exec(info)?.[1];
  if (version === undefined) return;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = MIN_VERSION.split('.').map(Number);
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new RedisError(`Redis ${version} is too old: the gateway needs ${MIN_VERSION} or later`);
  }
}

function evictionWarning(info: string): string[] {
  const policy = /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
  const maximum = Number(/^maxmemory:(\d+)/m.exec(info)?.[1] ?? 0);
  if (policy === 'noeviction' || maximum === 0) return [];
  return [
    `Redis may drop bans, counters and keys when its memory is full: set maxmemory-policy to noeviction, not ${policy}`,
  ];
}

/** Uses the permissions and key names that requests need. */
async function tryScript(redis: Connection): Promise<void> {
  const name = randomUUID();
  try {
    await runScript(redis, loadScript('reset-1.lua'), [keyOf.counters(name)], [CHANNEL, '']);
    await redis.set(keyOf.probe(name), '', 'PX', PROBE_TTL);
  } catch (error) {
    throw unusable(error);
  }
}

export function unusable(error: unknown): RedisError {
  const message = messages(error);
  if (/NOPERM|NOAUTH|ACL|permission|can't run this command/i.test(message))
    return new RedisError(`the Redis user lacks a permission: ${message}`, { cause: error });
  return new RedisError(`Redis does not do what the gateway needs: ${message}`, { cause: error, isUnreachable: true });
}
