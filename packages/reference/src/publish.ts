import { Document, isObject, type Json, objectsIn } from '@storegate/openapi';
import { METHODS } from './browser/model/api.ts';

const UPSTREAM = 'x-storegate-upstream';

export type Replacements = ReadonlyMap<Json, Json>;

/**
 * A copy that repeats the gateway's fields in those of other renderers, unless the author wrote
 * them.
 *
 * | gateway | other renderers |
 * |---|---|
 * | `x-try-it: false` | `x-hideTryItPanel`, `x-hideReplay` (Redocly), `x-explorer-enabled` (ReadMe, Zudoku) |
 * | `x-stability-level` | `x-scalar-stability` (Scalar has no word for beta), `x-beta` (Bump.sh), `x-badges` |
 * | `deprecated`, `x-sunset` | `x-scalar-stability: deprecated`, `x-badges` |
 * | `x-ratelimit-cost` | `x-badges` |
 *
 * Omits `x-storegate-upstream`. Never sets `x-internal`: every operation is public, even if readers
 * cannot try it.
 */
export function publish(
  root: Readonly<Json>,
  replacements: Replacements = new Map(),
): Json {
  const document = new Document(root as Json);
  const operations = new Set(
    document
      .members(root.paths)
      .flatMap(([, item]) =>
        [...METHODS].map((method) => document.object(item)?.[method]),
      )
      .filter(isObject),
  );

  const items = document
    .members(root.paths)
    .flatMap(([, item]) => [item, document.object(item)]);
  const naming = new Set<unknown>([
    ...operations,
    ...items,
    ...objectsIn(root.tags),
  ]);

  function copy(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(copy);
    if (!isObject(value)) return value;
    // The names of upstreams are not public.
    const members = Object.entries(replacements.get(value) ?? value).filter(
      ([name]) => name !== UPSTREAM || !naming.has(value),
    );
    const own = Object.fromEntries(
      members.map(([name, member]) => [name, copy(member)]),
    );
    // The author's fields come first and win.
    return operations.has(value)
      ? { ...own, ...expansion(value), ...own }
      : own;
  }
  return copy(root) as Json;
}

function expansion(operation: Json): Json {
  const level = operation['x-stability-level'];
  const badges = badgesOf(operation);
  return {
    ...(operation['x-try-it'] === false && {
      'x-hideTryItPanel': true,
      'x-hideReplay': true,
      'x-explorer-enabled': false,
    }),
    ...(level === 'experimental' && { 'x-scalar-stability': 'experimental' }),
    ...(operation.deprecated === true && {
      'x-scalar-stability': 'deprecated',
    }),
    ...(level === 'beta' && { 'x-beta': true }),
    ...(badges.length > 0 && { 'x-badges': badges }),
  };
}

function badgesOf(operation: Json): Json[] {
  const {
    'x-stability-level': level,
    'x-sunset': sunset,
    'x-ratelimit-cost': cost,
  } = operation;
  const badges: Json[] = [];
  if (level === 'experimental')
    badges.push({ name: 'Experimental', color: 'purple' });
  if (level === 'beta') badges.push({ name: 'Beta', color: 'blue' });
  if (typeof sunset === 'string')
    badges.push({ name: `Sunset ${sunset.slice(0, 10)}`, color: 'orange' });
  if (typeof cost === 'number' && cost !== 1)
    badges.push({ name: `Costs ${cost}`, color: 'grey' });
  return badges;
}
