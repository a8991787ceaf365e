import { readAliases } from '@storegate/openapi/aliases';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { step } from '../problems/pointers.ts';
import { quote } from '../problems/quote.ts';

/** A document that contains itself is deeper. */
const deepest = 16;
/** Values of aliases count at each use. */
const mostValues = 100_000;
/** A value in a list is two tokens, a member of a map four. Each takes about 1 KB to parse. */
export const mostTokens = 4 * mostValues;
export const tooManyValues = `must not hold more than ${mostValues} values`;

/** Offsets in the text. */
export interface Spot {
  readonly key: number;
  readonly value: number;
}

/**
 * Reports repeated keys. Without a `value` the document cannot be checked further. `spots`: by JSON
 * pointer.
 */
export function treeOf(
  document: Document.Parsed,
  lineOf: (offset: number) => number,
) {
  const spots = new Map<string, Spot>();
  const flaws: { offset: number; pointer: string; message: string }[] = [];
  const { targets } = readAliases(document);

  function visit(
    node: unknown,
    pointer: string,
    key: number,
    depth: number,
  ): unknown {
    if (isAlias(node)) {
      const target = targets.get(node);
      if (target === undefined)
        throw new UnsupportedNode(
          startOf(node),
          pointer,
          'uses an alias (*) that has no anchor (&) before it',
        );
      return visit(target, pointer, key, depth);
    }
    const value = isNode(node) ? startOf(node) : key;
    if (depth > deepest)
      throw new UnsupportedNode(
        key,
        '',
        `must not be nested more than ${deepest} deep`,
      );
    if (spots.size >= mostValues)
      throw new UnsupportedNode(key, '', tooManyValues);
    spots.set(pointer, { key, value });
    if (isMap(node)) return visitMap(node, pointer, depth);
    if (isSeq(node)) return visitList(node, pointer, depth);
    return isScalar(node) ? node.value : null;
  }

  function visitMap(
    map: YAMLMap,
    pointer: string,
    depth: number,
  ): Record<string, unknown> {
    // Without a prototype, `__proto__` is a key like any other.
    const result: Record<string, unknown> = Object.create(null);
    for (const pair of map.items) {
      const { name, offset } = keyOf(pair, pointer);
      const place = step(pointer, name);
      const first = spots.get(place);
      if (first === undefined)
        result[name] = visit(pair.value, place, offset, depth + 1);
      else
        flaws.push({
          offset,
          pointer: place,
          message: `is set twice; first in line ${lineOf(first.key)}`,
        });
    }
    return result;
  }

  function visitList(list: YAMLSeq, pointer: string, depth: number): unknown[] {
    return list.items.map((item, index) =>
      visit(
        item,
        step(pointer, index),
        isNode(item) ? startOf(item) : startOf(list),
        depth + 1,
      ),
    );
  }

  try {
    const value = visit(document.contents, '', 0, 0);
    return { value, spots, flaws };
  } catch (error) {
    if (!(error instanceof UnsupportedNode)) throw error;
    return { value: undefined, spots, flaws: [...flaws, error] };
  }
}

class UnsupportedNode extends Error {
  readonly offset: number;
  readonly pointer: string;

  constructor(offset: number, pointer: string, message: string) {
    super(message);
    this.offset = offset;
    this.pointer = pointer;
  }
}

function keyOf(
  { key }: Pair,
  pointer: string,
): { name: string; offset: number } {
  const offset = isNode(key) ? startOf(key) : 0;
  if (!isScalar(key) || key.value === null)
    throw new UnsupportedNode(
      offset,
      pointer,
      `must have plain words as keys, has ${quote(isScalar(key) ? null : [])}`,
    );
  return { name: String(key.value), offset };
}

function isNode(value: unknown): value is Node {
  return isMap(value) || isSeq(value) || isScalar(value) || isAlias(value);
}

function startOf(node: Node): number {
  return node.range?.[0] ?? 0;
}
