import { isObject } from '../common/shapes.ts';
import type { GatewaySettings } from './config.generated.ts';
import type { BackendAddress, Upstream } from './config.ts';
import { baseUrl, mapped } from './conversions.ts';
import { step } from './problems/pointers.ts';
import { type SchemaError, valueError } from './schema/errors.ts';
import {
  documentOf,
  type Settings,
  settingValue,
  valueAt,
} from './settings.ts';

/** From the section `upstream`. */
export const DEFAULT_UPSTREAM = 'default';

type Section = Readonly<Record<string, unknown>>;

/** With everything that it inherits. */
export type UpstreamEntry = Section & {
  readonly url: string | null;
  readonly backends: readonly { readonly url: string }[];
};

const defaultIn = (settings: Settings) =>
  documentOf(settings).upstream as UpstreamEntry;

/** Without what they inherit. */
const ownSections = (settings: Settings) =>
  settingValue<Readonly<Record<string, Section | null>> | null>(
    settings,
    'upstreams',
  ) ?? {};

export function upstreamsIn(
  settings: Settings,
): Readonly<Record<string, UpstreamEntry>> {
  const inherited = { ...defaultIn(settings), url: null, backends: [] };
  return mapped(
    ownSections(settings),
    (own) => overlaid(inherited, own ?? {}) as UpstreamEntry,
  );
}

/** `own` takes precedence. */
function overlaid(section: Section, own: Section): Section {
  return mapped(section, (value, key) => {
    if (isObject(value)) return overlaid(value, (own[key] ?? {}) as Section);
    return own[key] === undefined ? value : own[key];
  });
}

/** A variable of the environment overrides the whole list of the file. */
export function upstreamOf({
  url,
  ...upstream
}: GatewaySettings['upstream']): Upstream {
  return url === null ? upstream : { ...upstream, backends: backendsIn(url) };
}

export function backendsIn(urls: string): BackendAddress[] {
  return urls
    .split(',')
    .map((url) => ({ url: baseUrl(url.trim()), weight: 1 }));
}

export function backendLabel(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`;
}

export function endsWithPath(url: string, prefix: string): boolean {
  return (
    prefix !== '' && new URL(url).pathname.replace(/\/+$/, '').endsWith(prefix)
  );
}

export const STATUSES = [
  'upstream.healthChecks.statuses',
  'upstream.ejection.statuses',
] as const;

export function upstreamErrors(settings: Settings): SchemaError[] {
  const upstream = defaultIn(settings);
  const fromVariable =
    settings.get('upstream.url')?.origin.kind === 'environment';
  return [
    ...(fromVariable ? [] : bothWays(upstream, '/upstream')),
    ...repeatedBackends(upstream, '/upstream'),
    ...reversedRanges(upstream, '/upstream'),
  ];
}

export function upstreamsErrors(settings: Settings): SchemaError[] {
  const own = ownSections(settings);
  return Object.entries(upstreamsIn(settings)).flatMap(([name, upstream]) => {
    const at = step('/upstreams', name);
    const none =
      backendUrls(upstream).length === 0
        ? [valueError(at, 'needs its backend: url, or backends')]
        : [];
    return [
      ...none,
      ...bothWays(upstream, at),
      ...repeatedBackends(upstream, at),
      ...reversedRanges(own[name], at),
    ];
  });
}

/** With both in one file the intended one is unclear. */
function bothWays({ url, backends }: UpstreamEntry, at: string): SchemaError[] {
  if (url === null || backends.length === 0) return [];
  return [
    valueError(
      `${at}/backends`,
      'cannot be combined with url: list all backends in one of them',
    ),
  ];
}

export function backendUrls({
  url = null,
  backends = [],
}: Partial<UpstreamEntry>): string[] {
  return url === null
    ? backends.map((backend) => backend.url)
    : backendsIn(url).map((backend) => backend.url);
}

/** Log, metrics and commands identify backends by host and port. */
function repeatedBackends(upstream: UpstreamEntry, at: string): SchemaError[] {
  const labels = backendUrls(upstream).map(backendLabel);
  const second = labels.findIndex((label, i) => labels.indexOf(label) < i);
  if (second === -1) return [];
  const place =
    upstream.url === null ? `${at}/backends/${second}/url` : `${at}/url`;
  return [
    valueError(
      place,
      `has ${labels[second]} twice: an upstream has each host and port once`,
    ),
  ];
}

function reversedRanges(upstream: unknown, at: string): SchemaError[] {
  return STATUSES.flatMap((name) => {
    const [, section, key] = name.split('.');
    const statuses = (valueAt(upstream, `${section}.${key}`) ??
      []) as readonly (string | number)[];
    return reversedRange(statuses, `${at}/${section}/${key}`);
  });
}

/** The first of these statuses whose range is reversed. */
export function reversedRange(
  statuses: readonly (string | number)[],
  at: string,
): SchemaError[] {
  const turned = statuses
    .map((text) => String(text).split('-'))
    .findIndex(([from, to = from]) => Number(from) > Number(to));
  return turned === -1
    ? []
    : [valueError(`${at}/${turned}`, 'must begin with the smaller status')];
}
