import type { Document } from './document/document.ts';
import { isObject, type Json, objectsIn } from './document/source.ts';
import type { Findings } from './findings.ts';
import type { ReadingOptions } from './options.ts';

/** The part of a URL before its path. */
const AUTHORITY = /^(?:[A-Za-z][A-Za-z0-9+.-]*:)?\/\/[^/]*/;

/**
 * The paths of the document's servers, without a trailing slash, longest first, as prefixes of requests. Variables have
 * their defaults. Servers of single paths and operations are ignored.
 */
export function serverPaths(
  { root }: Document,
  findings: Findings,
  serverPath: ReadingOptions['serverPath'],
): string[] {
  const paths = new Set<string>();
  for (const server of objectsIn(root.servers)) {
    const path = withDefaults(server).replace(AUTHORITY, '').replace(/\/+$/, '');
    paths.add(path);
    if (serverPath !== 'prefix' && path !== '')
      findings.note(server, 'url', `the path ${path} of a server is not a part of the paths here`);
  }
  if (serverPath !== 'prefix' || paths.size === 0) return [''];
  return [...paths].map((path) => (path === '' || path.startsWith('/') ? path : `/${path}`)).sort(longestFirst);
}

const longestFirst = (a: string, b: string): number => b.length - a.length;

function withDefaults({ url, variables }: Json): string {
  return String(url).replace(/\{([^{}]*)\}/g, (found, name: string) => {
    const variable = isObject(variables) && Object.hasOwn(variables, name) ? variables[name] : null;
    return isObject(variable) ? String(variable.default) : found;
  });
}

/** The rest of the path after the first matching prefix; `null` without a match. */
export function behind(prefixes: readonly string[], path: string): string | null {
  const prefix = prefixes.find((one) => path.startsWith(`${one}/`));
  return prefix === undefined ? null : path.slice(prefix.length);
}
