import {
  type Description,
  type Document,
  type Findings,
  type Json,
  objectsIn,
  shown,
} from '@storegate/openapi';
import type { Window } from '../../limits/limits.ts';
import { readWindows } from '../../limits/notation.ts';
import {
  NO_SCOPES,
  type Scopes,
  scopeOfOperation,
  scopeOfTag,
} from '../../limits/scopes.ts';

export const RATELIMIT = 'x-ratelimit';
export const RATELIMIT_COST = 'x-ratelimit-cost';

export interface LimitFields {
  /** `x-ratelimit-cost`. */
  readonly cost: number;
  /** Operations with the same windows share one list. */
  readonly scopes: Scopes;
}

/** Each client has a counter for every window. */
const MAX_SCOPED_WINDOWS = 16;
/** In characters. Names of windows appear in headers. */
const MAX_SCOPE_NAME = 200;

/** Mistakes are never tolerated, because a missing limit is not noticed. */
export function createRatelimits(
  { root }: Document,
  operations: readonly (readonly [Description, Json])[],
  findings: Findings,
) {
  const byScope = new Map<string, readonly Window[]>();
  let count = 0;
  for (const [{ id }, node] of operations) read(node, id, scopeOfOperation);
  const used = new Set(operations.flatMap(([{ tags }]) => tags));
  const tags = new Set<unknown>();
  for (const tag of objectsIn(root.tags)) {
    if (tag[RATELIMIT] === undefined) continue;
    if (typeof tag.name !== 'string')
      findings.refuse(tag, RATELIMIT, 'limits need a tag with a name');
    else if (tags.has(tag.name))
      findings.refuse(
        tag,
        RATELIMIT,
        `the tag ${shown(tag.name)} has limits already`,
      );
    else read(tag, tag.name, scopeOfTag);
    if (!used.has(tag.name as string))
      findings.note(tag, RATELIMIT, 'has no effect: no operation has this tag');
    tags.add(tag.name);
  }

  function read(
    node: Json,
    name: string,
    scopeOf: (name: string) => string,
  ): void {
    if (node[RATELIMIT] === undefined) return;
    const windows = windowsIn(node, name, scopeOf);
    if (typeof windows === 'string') {
      findings.refuse(node, RATELIMIT, windows);
      return;
    }
    count += windows.length;
    const scope = scopeOf(name);
    byScope.set(
      scope,
      windows.map((window) => ({ ...window, scope })),
    );
  }

  /** Returns text for a mistake. */
  function windowsIn(
    node: Json,
    name: string,
    scopeOf: (name: string) => string,
  ): readonly Window[] | string {
    const windows = readWindows(node[RATELIMIT]);
    if (typeof windows === 'string') return windows;
    if (windows.some((window) => window.scope !== undefined))
      return 'counts requests to its own operations, so it cannot name an API';
    if (!name.isWellFormed() || scopeOf(name).length > MAX_SCOPE_NAME)
      return 'needs a shorter name to count for';
    if (count + windows.length <= MAX_SCOPED_WINDOWS) return windows;
    return `a contract has at most ${MAX_SCOPED_WINDOWS} windows, because each client is counted in all of them`;
  }

  function scopesOf({ id, tags }: Description): Scopes {
    const all = [
      ...new Set([
        ...scopesNamed([id], scopeOfOperation),
        ...scopesNamed(tags, scopeOfTag),
      ]),
    ];
    const own = all.filter((scope) => byScope.has(scope));
    return own.length === 0 ? NO_SCOPES : own;
  }

  function costOf(node: Json): number {
    const cost = node[RATELIMIT_COST] === undefined ? 1 : node[RATELIMIT_COST];
    if (typeof cost === 'number' && Number.isSafeInteger(cost) && cost >= 0)
      return cost;
    findings.problem(node, RATELIMIT_COST, 'must be a whole number, 0 or more');
    return 1;
  }

  /** It would never be admitted. */
  function checkCost(cost: number, scopes: Scopes, node: Json): void {
    for (const scope of scopes) {
      const tight = byScope.get(scope)!.find(({ limit }) => limit < cost);
      if (!tight) continue;
      const message = `${cost} is more than ${tight.limit} per ${tight.name}, which ${RATELIMIT} allows`;
      findings.refuse(
        node,
        RATELIMIT_COST,
        `${message}: no request would be admitted`,
      );
    }
  }

  return {
    fieldsOf(operation: Description, node: Json): LimitFields {
      const [cost, scopes] = [costOf(node), scopesOf(operation)];
      checkCost(cost, scopes, node);
      return { cost, scopes };
    },
    windowsOf(operations: readonly LimitFields[]): readonly Window[] {
      const used = new Set(operations.flatMap(({ scopes }) => scopes));
      return [...byScope].flatMap(([scope, own]) =>
        used.has(scope) ? own : [],
      );
    },
  };
}

function scopesNamed(
  names: readonly string[],
  scopeOf: (name: string) => string,
): string[] {
  return names.filter((name) => name.isWellFormed()).map(scopeOf);
}
