import { deepFreeze } from '../common/freeze.ts';
import type { Config } from './config.ts';
import { namesBackends, remember, settingsBehind } from './describe.ts';
import { type Setting, settingSchema } from './settings.ts';

/** By `x-restart` of the schema. */
export function needsRestart(name: string): boolean {
  return settingSchema(name)['x-restart'] === true;
}

/** Unset, the backend runs that was started beside the gateway. */
const BACKENDS: readonly string[] = ['upstream.url', 'upstream.backends'];

export function keepsValue(name: string, loaded: Config): boolean {
  return (
    needsRestart(name) || (BACKENDS.includes(name) && !namesBackends(loaded))
  );
}

export function differences(one: Config, other: Config): string[] {
  const [a, b] = [settingsBehind(one), settingsBehind(other)];
  const textOf = (setting?: Setting) =>
    JSON.stringify([setting?.value, setting?.contents]);
  return [...b.keys()].filter(
    (name) => textOf(a.get(name)) !== textOf(b.get(name)),
  );
}

/**
 * Settings that need a restart keep their values from the start, such as the number of `auto`
 * workers; and the backend stays if none is named.
 */
export function inForce<C extends Config>(running: C, loaded: Config): C {
  const before = settingsBehind(running);
  const settings = new Map(settingsBehind(loaded));
  const kept = [...settings.keys()].filter((name) => keepsValue(name, loaded));
  for (const name of kept) settings.set(name, before.get(name)!);
  const [old, fresh] = [
    running as unknown as Section,
    loaded as unknown as Section,
  ];
  // The URLs are in the backends of the configuration.
  const parts = kept
    .filter((name) => name !== 'upstream.url')
    .map((name) => name.split('.'));
  const config = parts.reduce(
    (config, name) => keep(old, config, name),
    fresh,
  ) as unknown as C;
  remember(config, settings);
  return deepFreeze(config);
}

/** `null` if it is off, such as redis. */
type Section = Readonly<Record<string, unknown>> | null;

function keep(
  running: Section,
  loaded: Section,
  [key = '', ...rest]: readonly string[],
): Section {
  if (running === null) return null;
  const [old, fresh] = [running[key], loaded?.[key] ?? null];
  return {
    ...loaded,
    [key]:
      rest.length === 0 ? old : keep(old as Section, fresh as Section, rest),
  };
}
