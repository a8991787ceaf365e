import { resolve } from 'node:path';
import type { StatusRange, StoreAddress, Upstream } from './config.ts';
import type { Flaw } from './schema/flaws.ts';
import { type Setting, type SettingsReader, valueAt } from './settings.ts';
import { parseDuration, parseSize } from './units.ts';

/** The name of the upstream that the section `upstream` describes. */
export const DEFAULT_UPSTREAM = 'default';

/** Its own stores are what makes an upstream another one. */
const NOT_INHERITED: ReadonlySet<string> = new Set(['upstream.url', 'upstream.stores']);

/** The section `upstream` as it holds for one of `upstreams`, by the settings that `written` has. */
function inheriting(read: SettingsReader, written: unknown): SettingsReader {
  const document = { upstream: written };
  return read.with((name, setting): Setting | null => {
    if (!name.startsWith('upstream.')) return null;
    const value = valueAt(document, name);
    if (value !== undefined) return { ...setting, value };
    return NOT_INHERITED.has(name) ? { ...setting, value: name === 'upstream.url' ? null : [] } : null;
  });
}

/** All upstreams of `upstreams`, each as settings of a section `upstream`. */
function named(read: SettingsReader): readonly (readonly [name: string, settings: SettingsReader])[] {
  return Object.entries(read.map('upstreams')).map(([name, written]) => [name, inheriting(read, written)]);
}

/** The upstreams of `upstreams`, complete. */
export function upstreamsOf(read: SettingsReader, cwd: string): Readonly<Record<string, Upstream>> {
  return Object.fromEntries(named(read).map(([name, settings]) => [name, upstreamOf(settings, cwd)]));
}

/** The upstream of the section `upstream`, complete; without stores, the shipped one is meant. */
export function upstreamOf(read: SettingsReader, cwd: string): Upstream {
  const path = (name: string): string | null => {
    const file = read.textOrNull(`upstream.${name}`);
    return file === null ? null : resolve(cwd, file);
  };
  const span = (name: string): number => parseDuration(read.text(`upstream.${name}`))!;
  return {
    stores: storesOf(read),
    connections: read.number('upstream.connections'),
    connectTimeout: span('connectTimeout'),
    headersTimeout: span('headersTimeout'),
    bodyTimeout: span('bodyTimeout'),
    minResponseRate: parseSize(read.text('upstream.minResponseRate'))!,
    tls: {
      ca: path('tls.ca'),
      cert: path('tls.cert'),
      key: path('tls.key'),
      serverName: read.textOrNull('upstream.tls.serverName'),
    },
    resolve: span('resolve'),
    readyWhenAway: read.flag('upstream.readyWhenAway'),
    checks: {
      path: read.textOrNull('upstream.checks.path'),
      interval: span('checks.interval'),
      timeout: span('checks.timeout'),
      healthy: read.number('upstream.checks.healthy'),
      unhealthy: read.number('upstream.checks.unhealthy'),
      statuses: rangesOf(read, 'upstream.checks.statuses'),
    },
    ejection: {
      enabled: read.flag('upstream.ejection.enabled'),
      failures: read.number('upstream.ejection.failures'),
      timeouts: read.number('upstream.ejection.timeouts'),
      share: read.number('upstream.ejection.share'),
      statuses: rangesOf(read, 'upstream.ejection.statuses'),
      probe: span('ejection.probe'),
      slowReturn: span('ejection.slowReturn'),
    },
    retries: {
      budget: read.number('upstream.retries.budget'),
      most: read.number('upstream.retries.most'),
      on: [...read.list<Upstream['retries']['on'][number]>('upstream.retries.on')],
      timeouts: read.flag('upstream.retries.timeouts'),
    },
  };
}

/** A variable of the environment beats the whole list of the file. */
function storesOf(read: SettingsReader): StoreAddress[] {
  const url = read.textOrNull('upstream.url');
  if (url !== null) return urlsIn(url).map((one) => ({ url: one, weight: 1 }));
  const stores = read.list<{ url: string; weight?: number }>('upstream.stores');
  return stores.map((store) => ({ url: normalUrl(store.url), weight: store.weight ?? 1 }));
}

/** The URLs in a list with commas, in their normal form. */
export function urlsIn(list: string): string[] {
  return list.split(',').map((url) => normalUrl(url.trim()));
}

/** A URL in its normal form (lower-case host, no default port), ready for a path after it. */
export function normalUrl(url: string): string {
  return new URL(url).href.replace(/\/+$/, '');
}

/** How a store is called: by its host and port alone. */
export function storeLabel(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

function rangesOf(read: SettingsReader, name: string): StatusRange[] {
  return read.list<string | number>(name).map((text) => {
    const [from = 0, to = from] = String(text).split('-').map(Number);
    return { from, to };
  });
}

/** Settings that are lists of statuses. */
export const STATUSES = ['upstream.checks.statuses', 'upstream.ejection.statuses'] as const;

/** What is wrong with the stores of the section `upstream`. */
export function upstreamFlaws(read: SettingsReader): Flaw[] {
  return [...bothWays(read, ''), ...storesTwice(read, ''), ...turnedRanges(read, '')];
}

/** What is wrong with `upstreams`. */
export function upstreamsFlaws(read: SettingsReader): Flaw[] {
  return named(read).flatMap(([name, settings]) => {
    const at = `/upstreams/${name}`;
    const none = storesOf(settings).length === 0 ? [flaw(at, 'needs its store: url, or stores')] : [];
    const own = inheriting(
      read.with((name, setting) => (isStatuses(name) ? { ...setting, value: [] } : null)),
      read.map('upstreams')[name],
    );
    return [...none, ...bothWays(settings, at), ...storesTwice(settings, at), ...turnedRanges(own, at)];
  });
}

/** What is wrong with where mounts lead to. */
export function mountFlaws(read: SettingsReader): Flaw[] {
  const names = [DEFAULT_UPSTREAM, ...Object.keys(read.map('upstreams'))];
  return read.list<{ target?: string; upstream?: string }>('mounts').flatMap(({ target, upstream }, i) => {
    const at = `/mounts/${i}`;
    if (target === undefined && upstream === undefined) return [flaw(at, 'needs a target, or the name of an upstream')];
    if (target !== undefined && upstream !== undefined)
      return [flaw(`${at}/upstream`, 'must not stand beside a target: a mount leads to one of them')];
    if (upstream === undefined || names.includes(upstream)) return [];
    return [flaw(`${at}/upstream`, `names no upstream; known are ${names.join(', ')}`)];
  });
}

/** Of both in one file nobody could tell which is meant. */
function bothWays(read: SettingsReader, prefix: string): Flaw[] {
  if (read.origin('upstream.url').kind === 'environment' && prefix === '') return [];
  if (read.textOrNull('upstream.url') === null || read.list('upstream.stores').length === 0) return [];
  return [flaw(placeOf(prefix, 'stores'), 'must not stand beside url: put all stores into one of them')];
}

/** Log, metrics and commands tell stores by host and port. */
function storesTwice(read: SettingsReader, prefix: string): Flaw[] {
  const labels = storesOf(read).map(({ url }) => storeLabel(url));
  const second = labels.findIndex((label, i) => labels.indexOf(label) < i);
  if (second === -1) return [];
  const inList = read.textOrNull('upstream.url') === null;
  const place = inList ? `${placeOf(prefix, 'stores')}/${second}/url` : placeOf(prefix, 'url');
  return [flaw(place, `has ${labels[second]} twice: an upstream has each host and port once`)];
}

function turnedRanges(read: SettingsReader, prefix: string): Flaw[] {
  return STATUSES.flatMap((name) => {
    const turned = rangesOf(read, name).findIndex(({ from, to }) => from > to);
    if (turned === -1) return [];
    const place = placeOf(prefix, name.replace('upstream.', '').replace('.', '/'));
    return [flaw(`${place}/${turned}`, 'must begin with the smaller status')];
  });
}

const isStatuses = (name: string): boolean => (STATUSES as readonly string[]).includes(name);

const placeOf = (prefix: string, name: string): string => `${prefix === '' ? '/upstream' : prefix}/${name}`;

function flaw(pointer: string, message: string): Flaw {
  return { pointer, at: 'value', message };
}
