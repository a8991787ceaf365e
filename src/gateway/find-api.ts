import { asciiHost } from '../common/ascii-host.ts';
import { createCache } from '../common/cache.ts';
import type { ApiPlace } from '../config/config.ts';
import type { Call } from './wire/call.ts';
import type { Head } from './wire/head.ts';

type Placed<T> = Pick<ApiPlace, 'host' | 'path'> & { readonly value: T };

/** By path, for one host. */
interface Paths<T> {
  readonly byPath: ReadonlyMap<string, T>;
  /** Most segments of a path. */
  readonly depth: number;
}

/** Characters: a name (RFC 1035 section 2.3.4) with a dot and a port. */
const LONGEST = 260;
/** Hosts whose tables are kept: at least so many, at most twice as many. */
const HOSTS = 1_000;

/**
 * Finds the longest match of host, then path. A host that has no API with the path leaves the
 * request to a wildcard, and that to APIs of any host. `null`: no API has it.
 */
export function createApiFinder<T>(apis: readonly Placed<T>[]) {
  const byHost = new Map(
    [...Map.groupBy(apis, ({ host }) => host)].map(([host, own]) => [
      host,
      pathsOf(own),
    ]),
  );
  const known = createCache<readonly Paths<T>[]>(HOSTS);
  const ofAnyHost = byHost.get(null);
  const others = ofAnyHost === undefined ? [] : [ofAnyHost];

  function tablesOf(sent: string): readonly Paths<T>[] {
    const cached = known.get(sent);
    if (cached !== undefined) return cached;
    if (sent.length > LONGEST) return others;
    const host = asciiHost(sent.replace(/:\d*$/, ''));
    const names = host.includes('*') ? [] : namesOf(host);
    const tables = names.flatMap((name) => byHost.get(name) ?? []);
    const all = [...tables, ...others];
    known.set(sent, all);
    return all;
  }

  /** `host`: as sent, with a port. `path`: canonical. */
  return (host: string | undefined, path: string): T | null => {
    const tables =
      host === undefined || byHost.size === others.length
        ? others
        : tablesOf(host);
    for (const table of tables) {
      const found = longestIn(table, path);
      if (found !== null) return found;
    }
    return null;
  };
}

/** The host, and the wildcards that have it, the longest first. */
function namesOf(host: string): string[] {
  const labels = host.split('.').slice(1);
  return [host, ...labels.map((_, i) => `*.${labels.slice(i).join('.')}`)];
}

function pathsOf<T>(apis: readonly Placed<T>[]): Paths<T> {
  return {
    byPath: new Map(apis.map(({ path, value }) => [path, value])),
    depth: Math.max(...apis.map(({ path }) => path.split('/').length - 1)),
  };
}

function longestIn<T>({ byPath, depth }: Paths<T>, path: string): T | null {
  let end = 0;
  for (let i = 0; i < depth && end >= 0; i++) end = path.indexOf('/', end + 1);
  let at = end < 0 ? path.length : end;
  for (; at > 0; at = path.lastIndexOf('/', at - 1)) {
    const found = byPath.get(path.slice(0, at));
    if (found !== undefined) return found;
  }
  return byPath.get('/') ?? null;
}

/** Of an absolute target, otherwise of the Host field (RFC 9112 section 3.2.2). */
export function hostIn(
  { target }: Pick<Call, 'target'>,
  { host }: Pick<Head, 'host'>,
): string | undefined {
  if (target.startsWith('/')) return host;
  return /^https?:\/\/([^/?#]+)/i.exec(target)?.[1] ?? host;
}
