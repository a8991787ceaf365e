import { deepFreeze } from '../common/freeze.ts';
import type { Config, ServedConfig } from './config.ts';
import { formatPlace, UnusableSection } from './problems/problems.ts';
import { maskUrl, printable } from './problems/quote.ts';
import type { Schema } from './schema/schema.ts';
import {
  entryOf,
  type Origin,
  type Settings,
  settingSchema,
} from './settings.ts';
import { backendsIn } from './upstreams.ts';

const settingsByConfig = new WeakMap<Config, Settings | UnusableSection>();

export function remember(
  config: Config,
  settings: Settings | UnusableSection,
): void {
  settingsByConfig.set(config, settings);
}

/** The variable that gives a setting its value, otherwise the setting. */
export function writtenAs(
  settings: Settings | undefined,
  name: string,
): string {
  const origin = settings?.get(name)?.origin;
  return origin?.kind === 'environment' ? origin.name : name;
}

/** `url`: several with commas between them. */
export function withBackend(config: Config, url: string): ServedConfig {
  const backends = backendsIn(
    url,
  ) as unknown as ServedConfig['upstream']['backends'];
  const found = deepFreeze({
    ...config,
    upstream: { ...config.upstream, backends },
  });
  const settings = settingsByConfig.get(config);
  if (settings) settingsByConfig.set(found, settings);
  return found;
}

/** If not, the shipped store runs beside the gateway. */
export function namesBackends(config: Config): config is ServedConfig {
  return (
    config.upstream.backends.length > 0 || config.apis[0]!.backends === null
  );
}

/**
 * In the order of gateway.yaml. `value`: in JSON, with masked secrets. `source`: `environment
 * STOREGATE_PORT`, `file config/gateway.yaml:12:5` or `default`.
 */
export function describeConfig(config: Config) {
  return [...settingsBehind(config)].map(([name, setting]) => ({
    name,
    value: show(setting.value, settingSchema(name)['x-secret']),
    source: showOrigin(setting.origin),
  }));
}

/** By its dotted name, such as `listen.port`. */
export function sourceOf(config: Config, name: string): Origin {
  return entryOf(settingsBehind(config), name).origin;
}

export function settingsBehind(config: Config): Settings {
  const settings = settingsByConfig.get(config);
  if (settings === undefined)
    throw new TypeError(
      'only a Config that loadConfig returned knows where it came from',
    );
  if (settings instanceof UnusableSection) throw settings;
  return settings;
}

function show(value: unknown, secret: Schema['x-secret']): string {
  if (Array.isArray(value) && value.length > 0 && secret === 'whole')
    return JSON.stringify(value.map(() => '***'));
  if (secret === undefined || typeof value !== 'string')
    return printable(JSON.stringify(value));
  return JSON.stringify(secret === 'whole' ? '***' : maskUrl(value));
}

function showOrigin(origin: Origin): string {
  if (origin.kind === 'environment') return `environment ${origin.name}`;
  if (origin.kind === 'default') return 'default';
  return `file ${formatPlace(origin.file, origin.position)}`;
}
