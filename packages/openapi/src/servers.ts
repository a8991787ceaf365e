import type { Document } from './document/document.ts';
import { isObject, type Json, objectsIn } from './document/source.ts';
import { canonicalPath } from './path.ts';

const AUTHORITY = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/]*/;

const PLAIN = /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/;

/**
 * Canonical, without a trailing slash, longest first. Variables have their defaults. Servers of single paths
 * and operations are ignored. `auto`: only a plain path that all servers share.
 */
export function serverPaths({ root, reading, findings }: Document): string[] {
  const { serverPath = 'auto' } = reading;
  const servers = objectsIn(root.servers);
  const paths = servers.map((server) =>
    rooted(withDefaults(server).replace(AUTHORITY, '').replace(/\/+$/, '')),
  );
  const all = [...new Set(paths)].sort((a, b) => b.length - a.length);
  if (serverPath === 'prefix' && all.length > 0) return all.map(canonicalPath);
  if (serverPath === 'auto' && all.length === 1 && PLAIN.test(all[0]!))
    return all;
  for (const [i, path] of paths.entries()) {
    if (path !== '')
      findings.note(
        servers[i]!,
        'url',
        `the path ${path} of a server is not a part of the paths here`,
      );
  }
  return [''];
}

const rooted = (path: string) =>
  path === '' || path.startsWith('/') ? path : `/${path}`;

function withDefaults({ url, variables }: Json): string {
  return String(url).replace(/\{([^{}]*)\}/g, (found, name: string) => {
    const variable =
      isObject(variables) && Object.hasOwn(variables, name)
        ? variables[name]
        : null;
    return isObject(variable) ? String(variable.default) : found;
  });
}

/** `null` without a match. */
export function behind(
  prefixes: readonly string[],
  path: string,
): string | null {
  const prefix = prefixes.find((one) => path.startsWith(`${one}/`));
  return prefix === undefined ? null : path.slice(prefix.length);
}
