import { deepFreeze } from '../common/freeze.ts';
import type { Config } from './config.ts';
import { remember, settingsBehind } from './describe.ts';

/** Settings of listeners, connections and the state; a new value of these needs a restart. */
const FIXED = [
  'workers',
  'listen.',
  'admin.',
  'data',
  'redis.',
  'upstream.',
  'log.',
  'door.maxConnections',
  'door.maxHeaderBytes',
  'door.bodyBudget',
  'door.minBodyRate',
  'door.headersTimeout',
  'door.requestTimeout',
  'door.keepAliveTimeout',
  'door.stallTimeout',
  'door.drainTimeout',
  'door.guard.',
];

/** Whether a setting, given by its dotted name, keeps its value from the start. */
export function needsRestart(name: string): boolean {
  return FIXED.some((fixed) => (fixed.endsWith('.') ? name.startsWith(fixed) : name === fixed));
}

/** Settings whose values differ between two configurations. */
export function differences(one: Config, other: Config): string[] {
  const [a, b] = [settingsBehind(one), settingsBehind(other)];
  return [...b.keys()].filter((name) => JSON.stringify(a.get(name)?.value) !== JSON.stringify(b.get(name)?.value));
}

/** The configuration in force after a reload: the loaded one, except for settings that need a restart. */
export function inForce<C extends Config>(running: C, loaded: Config): C {
  const { workers, listen, admin, data, redis, upstream, log, door } = running;
  const {
    maxConnections,
    maxHeaderBytes,
    bodyBudget,
    minBodyRate,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    stallTimeout,
    drainTimeout,
    guard,
  } = door;
  const fixed = {
    maxConnections,
    maxHeaderBytes,
    bodyBudget,
    minBodyRate,
    headersTimeout,
    requestTimeout,
    keepAliveTimeout,
    stallTimeout,
    drainTimeout,
    guard,
  };
  const config = {
    ...loaded,
    workers,
    listen,
    admin,
    data,
    redis,
    upstream,
    log,
    door: { ...loaded.door, ...fixed },
  } as unknown as C;
  const before = settingsBehind(running);
  const settings = [...settingsBehind(loaded)].map(
    ([name, setting]) => [name, needsRestart(name) ? before.get(name)! : setting] as const,
  );
  remember(config, new Map(settings));
  return deepFreeze(config);
}
