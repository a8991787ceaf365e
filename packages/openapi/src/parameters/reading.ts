import { Bag, WIDE, wideNames } from '../bag.ts';
import { decoded } from '../document/source.ts';
import { refuse } from '../faults.ts';
import { readingOf, readJsonText } from '../json.ts';
import type { Reading } from '../marks.ts';
import { escapeToken, printable } from '../names.ts';
import { exact, isInteger, isNumber } from '../numbers.ts';
import { atOnce, type Steps } from '../slices.ts';
import { readDeep } from './deep.ts';
import { ANYTHING, type Members, type Shape } from './shape.ts';
import type { Pieces } from './styles.ts';

/** In a `form`, a space is `+` or `%20`. */
export type Encoding = 'none' | 'percent' | 'form';

/** In names: a map that grows is copied. */
const LARGEST = 32 * 1024;

/** In texts: less than a millisecond. */
const STEP = 1_000;

/** `undefined` if the encoding or its UTF-8 is invalid. */
export function decode(text: string, encoding: Encoding): string | undefined {
  if (encoding === 'none') return text;
  const plain = encoding === 'form' && text.includes('+') ? text.replaceAll('+', ' ') : text;
  return plain.includes('%') ? decoded(plain) : plain;
}

/**
 * A text becomes a number or boolean if the schema requires one and the text is one. @throws
 * Unreadable
 */
export function read(pieces: Pieces, shape: Shape, encoding: Encoding): unknown {
  if (pieces.form === 'primitive') return readText(pieces.text, shape, encoding, '');
  return atOnce(readInSteps(pieces, shape, encoding));
}

/** @throws Unreadable */
export function* readInSteps(pieces: Pieces, shape: Shape, encoding: Encoding): Steps<unknown> {
  if (pieces.form === 'primitive') return readText(pieces.text, shape, encoding, '');
  if (pieces.form === 'array') return yield* readList(pieces.texts, shape.items, encoding, '');
  if (pieces.form === 'object') return yield* readMembers(pieces.pairs, shape, encoding, new Bag());
  return readDeep(pieces.entries, shape, (text, inner, pointer) =>
    readText(text, inner, encoding, pointer),
  );
}

/** JSON in a text. @throws Unreadable */
export function readDocument(
  pieces: Pieces,
  encoding: Encoding,
  maxDepth: number | undefined,
): Reading {
  const text = read(pieces, ANYTHING, encoding) as string;
  return readingOf(readJsonText(text, maxDepth));
}

function readText(raw: string, shape: Shape | null, encoding: Encoding, pointer: string): unknown {
  const text = decode(raw, encoding);
  if (text === undefined) refuse('must be UTF-8 in valid percent-encoding', 'encoding', pointer);
  return typed(text, shape?.types ?? null);
}

function* readList(
  texts: readonly string[],
  items: Shape | null,
  encoding: Encoding,
  pointer: string,
): Steps<unknown[]> {
  const list: unknown[] = [];
  for (const text of texts) {
    list.push(readText(text, items, encoding, `${pointer}/${list.length}`));
    if (list.length % STEP === 0) yield;
  }
  return list;
}

type Pairs = readonly (readonly [string, string])[];

/** Puts them into `object`. @throws Unreadable */
export function* readMembers<T extends Record<string, unknown>>(
  pairs: Pairs,
  shape: Members,
  encoding: Encoding,
  object: T,
): Steps<T> {
  const grouped = [new Map<string, string[]>()];
  let count = 0;
  for (const [rawName, text] of pairs) {
    if (++count % STEP === 0) yield;
    const name = decode(rawName, encoding);
    if (name === undefined) refuse('must have names in valid percent-encoding', 'encoding');
    const known = grouped.find((part) => part.has(name));
    if (known) known.get(name)!.push(text);
    else {
      if (grouped.at(-1)!.size === LARGEST) grouped.push(new Map());
      grouped.at(-1)!.set(name, [text]);
    }
  }
  const names = grouped[0]!.size > WIDE ? Object.keys(object) : null;
  if (names !== null) wideNames.set(object, names);
  const members: Record<string, unknown> = object;
  for (const [name, texts] of grouped.values().flatMap((part) => part.entries())) {
    if (++count % STEP === 0) yield;
    members[name] = yield* readMember(
      name,
      texts,
      shape.members.get(name) ?? shape.others,
      encoding,
    );
    names?.push(name);
  }
  return object;
}

/** Clients repeat the name of a list member for each entry. */
function* readMember(
  name: string,
  texts: readonly string[],
  shape: Shape | null,
  encoding: Encoding,
): Steps<unknown> {
  const pointer = `/${escapeToken(printable(name))}`;
  if (shape?.types?.has('array')) return yield* readList(texts, shape.items, encoding, pointer);
  if (texts.length > 1) refuse('is given more than once', 'repeated', pointer);
  return readText(texts[0]!, shape, encoding, pointer);
}

/** A text that does not match the type stays text, so that the schema refuses it. */
function typed(text: string, types: ReadonlySet<string> | null): unknown {
  if (types === null) return text;
  if (types.has('integer') && isInteger(text)) return exact(text) ?? text;
  if (types.has('number') && isNumber(text)) return exact(text) ?? text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
