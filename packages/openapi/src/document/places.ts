import { isCollection, isMap, isScalar, type LineCounter, type Node } from 'yaml';
import { pointerTo } from '../names.ts';
import type { Problem } from '../problems.ts';

export interface Origin {
  readonly file: string;
  readonly tokens: readonly (string | number)[];
  place(key: string | number | null): { readonly line: number; readonly col: number };
}

export class YamlOrigin implements Origin {
  readonly file: string;
  readonly tokens: readonly (string | number)[];
  readonly #lines: LineCounter;
  readonly #node: Node;

  constructor(file: string, lines: LineCounter, node: Node, tokens: readonly (string | number)[]) {
    this.file = file;
    this.tokens = tokens;
    this.#lines = lines;
    this.#node = node;
  }

  place(key: string | number | null): { readonly line: number; readonly col: number } {
    return this.#lines.linePos(offset(this.#node, key));
  }
}

/** Also of objects that the bundler moved. */
export class Places {
  readonly #origins = new WeakMap<object, Origin>();

  set(value: object, origin: Origin): void {
    this.#origins.set(value, origin);
  }

  /**
   * @throws Error if the object is not from a file, which is a bug.
   */
  origin(value: object): Origin {
    const origin = this.#origins.get(value);
    if (!origin) throw new Error('an object that is not from the contract has no place in it');
    return origin;
  }

  of(value: object, key: string | number | null, message: string): Problem {
    const origin = this.origin(value);
    const { file, tokens } = origin;
    const { line, col } = origin.place(key);
    return { file, place: `${line}:${col} ${pointerTo(key === null ? tokens : [...tokens, key])}`.trimEnd(), message };
  }
}

/** A missing member has the place of its object. */
function offset(node: Node, key: string | number | null): number {
  const own = node.range?.[0] ?? 0;
  if (key === null || !isCollection(node)) return own;
  if (!isMap(node)) return (node.items[Number(key)] as Node | undefined)?.range?.[0] ?? own;
  const name = node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(key))?.key;
  return (name as Node | undefined)?.range?.[0] ?? own;
}
