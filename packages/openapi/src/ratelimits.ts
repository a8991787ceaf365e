import type { Window } from '../../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes, scopeOfOperation, scopeOfTag } from '../../../src/limits/scopes.ts';
import { readWindows } from '../../../src/limits/written.ts';
import type { Document } from './document/document.ts';
import { type Json, objectsIn } from './document/source.ts';
import { RATELIMIT as KEY } from './extensions.ts';
import type { Findings } from './findings.ts';
import { shown } from './names.ts';
import type { Description } from './operations.ts';

/** Windows in all of a contract: each client has a counter for every one of them. */
const MOST_SCOPED = 16;
/** Characters of a scope. Names of windows stand in headers. */
const LONGEST = 200;

/**
 * The windows of operations and tags in a document: `x-ratelimit` of Operation Objects and Tag Objects. A mistake in them is never
 * tolerated: nobody would notice that a limit does not hold.
 */
export class Ratelimits {
  readonly #findings: Findings;
  readonly #byScope = new Map<string, readonly Window[]>();
  #count = 0;

  constructor({ root }: Document, operations: readonly (readonly [Description, Json])[], findings: Findings) {
    this.#findings = findings;
    for (const [{ id }, node] of operations) this.#read(node, id, scopeOfOperation);
    const used = new Set(operations.flatMap(([{ tags }]) => tags));
    const tags = new Set<unknown>();
    for (const tag of objectsIn(root.tags)) {
      if (tag[KEY] === undefined) continue;
      if (typeof tag.name !== 'string') findings.refuse(tag, KEY, 'limits need a tag with a name');
      else if (tags.has(tag.name)) findings.refuse(tag, KEY, `the tag ${shown(tag.name)} has limits already`);
      else this.#read(tag, tag.name, scopeOfTag);
      if (!used.has(tag.name as string)) findings.note(tag, KEY, 'has no effect: no operation has this tag');
      tags.add(tag.name);
    }
    for (const [operation, node] of operations) this.#checkCost(operation, node);
  }

  /** The operations with the scopes they count in, and the windows of those: the ones that are served alone have any. */
  of(operations: readonly Description[]): { operations: readonly Description[]; windows: readonly Window[] } {
    const scoped = operations.map((operation) => ({ ...operation, scopes: this.#scopesOf(operation) }));
    const used = new Set(scoped.flatMap(({ scopes }) => scopes));
    const windows = [...this.#byScope].flatMap(([scope, own]) => (used.has(scope) ? own : []));
    return { operations: scoped, windows };
  }

  #read(node: Json, name: string, scopeOf: (name: string) => string): void {
    if (node[KEY] === undefined) return;
    const windows = this.#windowsIn(node, name, scopeOf);
    if (typeof windows === 'string') {
      this.#findings.refuse(node, KEY, windows);
      return;
    }
    this.#count += windows.length;
    const scope = scopeOf(name);
    this.#byScope.set(
      scope,
      windows.map((window) => ({ ...window, scope })),
    );
  }

  /** What is wrong comes as text. */
  #windowsIn(node: Json, name: string, scopeOf: (name: string) => string): readonly Window[] | string {
    const windows = readWindows(node[KEY]);
    if (typeof windows === 'string') return windows;
    if (!name.isWellFormed() || scopeOf(name).length > LONGEST) return 'needs a shorter name to count for';
    if (this.#count + windows.length <= MOST_SCOPED) return windows;
    return `a contract has at most ${MOST_SCOPED} windows, because each client is counted in all of them`;
  }

  #scopesOf({ id, tags }: Description): Scopes {
    const all = [...new Set([...scopesNamed([id], scopeOfOperation), ...scopesNamed(tags, scopeOfTag)])];
    const own = all.filter((scope) => this.#byScope.has(scope));
    return own.length === 0 ? NO_SCOPES : own;
  }

  /** Such an operation would never be admitted. */
  #checkCost(operation: Description, node: Json): void {
    for (const scope of this.#scopesOf(operation)) {
      const tight = this.#byScope.get(scope)!.find(({ limit }) => limit < operation.cost);
      if (!tight) continue;
      const told = `${operation.cost} is more than ${tight.limit} per ${tight.name}, which ${KEY} allows`;
      this.#findings.refuse(node, 'x-ratelimit-cost', `${told}: no request would be admitted`);
    }
  }
}

function scopesNamed(names: readonly string[], scopeOf: (name: string) => string): string[] {
  return names.filter((name) => name.isWellFormed()).map(scopeOf);
}
