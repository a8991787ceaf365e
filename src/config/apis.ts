import { asciiHost } from '../common/ascii-host.ts';
import { isObject } from '../common/shapes.ts';
import { inApi } from '../limits/scopes.ts';
import type { Api, ApiPlace, Config } from './config.ts';
import { NO_CONTRACT } from './contract/place.ts';
import { baseUrl } from './conversions.ts';
import { ownPaths } from './own-paths.ts';
import { type SchemaError, valueError } from './schema/errors.ts';
import {
  type Origin,
  type Setting,
  type Settings,
  settingSchema,
  settingValue,
  valueAt,
} from './settings.ts';
import {
  backendUrls,
  DEFAULT_UPSTREAM,
  type UpstreamEntry,
} from './upstreams.ts';

/** The API of the settings outside `apis`. */
export const DEFAULT_API = 'default';
const ROOT = '/';

/** An entry of `apis` as written, with valid values. */
export interface ApiEntry extends Readonly<Record<string, unknown>> {
  readonly name: string;
  readonly path?: string | null;
  readonly host?: string | null;
  readonly contract: string | Readonly<Record<string, unknown>>;
  /** A string: the name of an upstream. */
  readonly upstream?: Partial<UpstreamEntry> | string;
  readonly target?: string;
  readonly stripPath?: boolean | null;
  readonly websocket?: boolean;
}

/** Names the requests that its contract does not describe. */
export const undescribedName = (api: Pick<Api, 'name'>): string =>
  inApi(prefixOf(api), 'undescribed');

/** In names of operations; `null`: none, because the API is the default one. */
export const prefixOf = ({ name }: Pick<Api, 'name'>): string | null =>
  name === DEFAULT_API ? null : name;

export const entriesIn = (settings: Settings): readonly ApiEntry[] =>
  settingValue(settings, 'apis');

/**
 * Whether paths that no API has lead anywhere: if something is set for them, and without `apis`.
 */
export function hasDefaultApi(settings: Settings): boolean {
  const names = ['contract.file', 'upstream.url', 'upstream.backends'];
  return (
    entriesIn(settings).length === 0 ||
    names.some((name) => settings.get(name)!.origin.kind !== 'default')
  );
}

/** Of all APIs; none if one is alone. */
export function apiNames(settings: Settings): string[] {
  const names = entriesIn(settings).map(({ name }) => name);
  return names.length > 0 && hasDefaultApi(settings)
    ? [DEFAULT_API, ...names]
    : names;
}

/** The API that an operation is of, as its name says; `null`: none of these. */
export function apiNameIn(
  operation: string,
  apis: ReadonlySet<string>,
): string | null {
  const begin = operation.slice(0, Math.max(0, operation.indexOf('/')));
  if (apis.has(begin)) return begin;
  return apis.has(DEFAULT_API) ? DEFAULT_API : null;
}

const BACKENDS = ['upstream.url', 'upstream.backends'];

/** The settings of the gateway, overlaid with those of an entry. `originOf`: of a pointer. */
export function settingsOfApi(
  settings: Settings,
  entry: ApiEntry,
  originOf: (name: string) => Origin,
): Settings {
  const own = { ...entry, contract: contractOf(entry) };
  const hasBackends = isObject(entry.upstream);
  return new Map(
    [...settings].map(([name, setting]): [string, Setting] => {
      const value = valueAt(own, name);
      if (value !== undefined) return [name, { value, origin: originOf(name) }];
      const isNotInherited =
        name === 'operations' || (hasBackends && BACKENDS.includes(name));
      return [
        name,
        isNotInherited
          ? {
              value: settingSchema(name).default ?? null,
              origin: { kind: 'default' },
            }
          : setting,
      ];
    }),
  );
}

function contractOf({ contract }: ApiEntry): Readonly<Record<string, unknown>> {
  return typeof contract === 'string' ? { file: contract } : contract;
}

export function placeOf(entry: ApiEntry): ApiPlace {
  const { name, host = null, path = null, target } = entry;
  return {
    name,
    host: host === null ? null : asciiHost(host),
    path: path ?? ROOT,
    stripPath: entry.stripPath ?? null,
    websocket: entry.websocket ?? false,
    target: target === undefined ? null : baseUrl(target),
    backends: target === undefined ? upstreamNameOf(entry) : null,
    ownAddresses: entry.addresses !== undefined,
    trustsCost: valueAt(entry, 'cost.header') !== undefined,
  };
}

function upstreamNameOf({ name, upstream }: ApiEntry): string {
  if (upstream === undefined) return DEFAULT_UPSTREAM;
  return typeof upstream === 'string' ? upstream : name;
}

/** Everything outside `apis`, at every path that no API has. */
const DEFAULT_PLACE: ApiPlace = {
  name: DEFAULT_API,
  host: null,
  path: ROOT,
  stripPath: null,
  websocket: false,
  target: null,
  backends: DEFAULT_UPSTREAM,
  ownAddresses: false,
  trustsCost: false,
};

type Written = Readonly<Record<string, unknown>>;

/** Between the entries, and between them and what is outside. */
export function apiErrors(settings: Settings): SchemaError[] {
  const entries = entriesIn(settings);
  const upstreams = settingValue<Written | null>(settings, 'upstreams') ?? {};
  const files = [
    settingValue(settings, 'contract.file'),
    ...entries.map((entry) => contractOf(entry).file),
  ];
  const own = ownPaths({
    file: files.every((file) => file === NO_CONTRACT) ? NO_CONTRACT : null,
    hasReference: settingValue(settings, 'reference.enabled'),
    hasUsage: settingValue(settings, 'usage.enabled'),
  });
  const hasDefault = hasDefaultApi(settings);
  const places = entries.map(placeOf);
  const named = earlierAmong(places, ({ name }) => name);
  const placed = earlierAmong(places, textOf);

  return entries.flatMap((entry, i) => {
    const at = `/apis/${i}`;
    const place = places[i]!;
    const contract = contractOf(entry);
    const errors: SchemaError[] = [];
    const refuse = (pointer: string, message: string) =>
      errors.push(valueError(at + pointer, message));

    if (named(place) !== null) refuse('/name', 'is the name of an API above');
    else if (Object.hasOwn(upstreams, place.name))
      refuse('/name', 'is the name of an upstream: choose another one');
    if (place.host === null && place.path === ROOT)
      refuse('', 'needs a path or a host');
    const same = placed(place);
    if (same !== null)
      refuse(
        place.path === ROOT ? '/host' : '/path',
        `is the place of ${same.name}, an API above`,
      );
    const taken = own.find(({ path }) => overlap(place.path, path));
    if (taken !== undefined)
      refuse(
        '/path',
        `must not overlap ${taken.path}, which the gateway serves itself unless ${taken.setting} is false`,
      );
    if (contract.file === undefined || contract.file === null)
      refuse('/contract', 'needs file: a document, its URL, or none');
    for (const name of ['encodedSlash', 'semicolon'])
      if (contract[name] !== undefined)
        refuse(
          `/contract/${name}`,
          `is the same for all paths of the gateway: set contract.${name} outside apis`,
        );
    if (entry.target !== undefined && entry.upstream !== undefined)
      refuse('/target', 'cannot be combined with upstream: choose one of them');
    if (isObject(entry.upstream) && backendUrls(entry.upstream).length === 0)
      refuse('/upstream', 'needs its backend: url, or backends');
    if (
      typeof entry.upstream === 'string' &&
      entry.upstream !== DEFAULT_UPSTREAM &&
      !Object.hasOwn(upstreams, entry.upstream)
    )
      refuse(
        '/upstream',
        `names no upstream; known are ${[DEFAULT_UPSTREAM, ...Object.keys(upstreams)].join(', ')}`,
      );
    if (place.backends === DEFAULT_UPSTREAM && !hasDefault)
      refuse(
        '',
        'needs upstream, because the gateway has no backends of its own',
      );
    if (place.websocket && contract.file !== NO_CONTRACT)
      refuse('/websocket', 'needs contract: none');
    return errors;
  });
}

const textOf = ({ host, path }: ApiPlace) => `${host ?? ''}${path}`;

/** Finds the first one before a place that has the same text; `null`: it is the first. */
function earlierAmong(
  places: readonly ApiPlace[],
  keyOf: (place: ApiPlace) => string,
) {
  // Of equal keys, the last one of the reversed list stays.
  const first = new Map(places.toReversed().map((one) => [keyOf(one), one]));
  return (place: ApiPlace): ApiPlace | null => {
    const found = first.get(keyOf(place))!;
    return found === place ? null : found;
  };
}

/** Ignores case. `own` may end in `/`. */
function overlap(path: string, own: string): boolean {
  const [a, b] = [`${path}/`, own.replace(/\/?$/, '/')].map((one) =>
    one.toLowerCase(),
  );
  return path !== ROOT && (a!.startsWith(b!) || b!.startsWith(a!));
}

/** The APIs of a gateway, in the order of its settings. `configs`: with the settings of each entry. */
export function apisOf(
  general: Omit<Config, 'apis'>,
  entries: readonly ApiEntry[],
  {
    configs,
    hasDefault,
    namedBy,
  }: {
    readonly configs: readonly Omit<Config, 'apis'>[];
    /** Whether paths that no API has lead anywhere. */
    readonly hasDefault: boolean;
    /** The setting or variable of the contract outside `apis`. */
    readonly namedBy: string;
  },
): readonly Api[] {
  const others = entries.map((entry, i) =>
    apiOf(configs[i]!, placeOf(entry), `apis[${i}].contract`),
  );
  const own = {
    ...apiOf(general, DEFAULT_PLACE, namedBy),
    isAlone: entries.length === 0,
  };
  const first = hasDefault
    ? own
    : {
        ...own,
        contract: { ...own.contract, file: NO_CONTRACT },
        backends: null,
      };
  return [first, ...others];
}

function apiOf(
  config: Omit<Config, 'apis'>,
  place: ApiPlace,
  namedBy: string,
): Api {
  const { contract, keys, addresses, cors, cost, reference, plans } = config;
  const { maxBodyBytes, stripHeaders } = config.http;
  return {
    ...place,
    isAlone: false,
    namedBy,
    contract,
    headers: config.headers,
    operations: config.operations,
    keys,
    addresses,
    cors,
    cost,
    reference,
    plans,
    http: { maxBodyBytes, stripHeaders },
    usage: { enabled: config.usage.enabled },
  };
}

/** Whether the contract describes paths without the path of its API. */
export function stripsPath(
  { path, stripPath }: Pick<ApiPlace, 'path' | 'stripPath'>,
  prefixes: readonly string[],
): boolean {
  if (path === ROOT) return false;
  return stripPath ?? !prefixes.every((prefix) => isBelow(path, prefix));
}

/** Whether a path is at or below a place. */
const isBelow = (place: string, path: string): boolean =>
  path === place || path.startsWith(`${place}/`);
