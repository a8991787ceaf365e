import { isCollection, isMap, isScalar, type LineCounter, type Node } from 'yaml';
import { pointerTo } from '../names.ts';
import type { Problem } from '../problems.ts';

/** The place of an object in the files of the document. */
export interface Origin {
  readonly file: string;
  readonly lines: LineCounter;
  readonly node: Node;
  readonly tokens: readonly (string | number)[];
}

/** Remembers the original place of every object and array of the document, even after the bundler has moved it. */
export class Places {
  readonly #origins = new WeakMap<object, Origin>();

  set(value: object, origin: Origin): void {
    this.#origins.set(value, origin);
  }

  /** @throws Error if the object does not come from a file, which is a bug. */
  origin(value: object): Origin {
    const origin = this.#origins.get(value);
    if (!origin) throw new Error('an object that is not from the contract has no place in it');
    return origin;
  }

  /** A finding about an object, or about its member `key`. */
  of(value: object, key: string | number | null, message: string): Problem {
    const { file, lines, node, tokens } = this.origin(value);
    const { line, col } = lines.linePos(offset(node, key));
    return { file, place: `${line}:${col} ${pointerTo(key === null ? tokens : [...tokens, key])}`.trimEnd(), message };
  }
}

/** The place of a member is that of its name; a missing member has the place of the object. */
function offset(node: Node, key: string | number | null): number {
  const own = node.range?.[0] ?? 0;
  if (key === null || !isCollection(node)) return own;
  if (!isMap(node)) return (node.items[Number(key)] as Node | undefined)?.range?.[0] ?? own;
  const name = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))?.key;
  return (name as Node | undefined)?.range?.[0] ?? own;
}
