import { Bag, WIDE, wideNames } from '../bag.ts';
import { decoded, type Json } from '../document/source.ts';
import { refuse } from '../faults.ts';
import { readJsonText } from '../json.ts';
import { LargeMap } from '../large-map.ts';
import type { Reading } from '../marks.ts';
import { escapeToken, printable } from '../names.ts';
import { exact, isInteger, isNumber } from '../numbers.ts';
import { atOnce, type Steps } from '../slices.ts';
import { ANYTHING, type Members, type Shape } from './shape.ts';
import type { DeepEntry, Pieces } from './styles.ts';

/** In a `form`, a space is `+` or `%20`. */
export type Encoding = 'none' | 'percent' | 'form';

/** In texts: less than a millisecond. */
const STEP = 1_000;

/** `undefined` if the encoding or its UTF-8 is invalid. */
export function decode(text: string, encoding: Encoding): string | undefined {
  if (encoding === 'none') return text;
  const plain =
    encoding === 'form' && text.includes('+')
      ? text.replaceAll('+', ' ')
      : text;
  return plain.includes('%') ? decoded(plain) : plain;
}

/**
 * A text becomes a number or boolean if the schema requires one and the text is one. @throws
 * Unreadable
 */
export function read(
  pieces: Pieces,
  shape: Shape,
  encoding: Encoding,
): unknown {
  if (pieces.form === 'primitive')
    return readText(pieces.text, shape, encoding, '');
  return atOnce(readInSteps(pieces, shape, encoding));
}

/** @throws Unreadable */
export function* readInSteps(
  pieces: Pieces,
  shape: Shape,
  encoding: Encoding,
): Steps<unknown> {
  if (pieces.form === 'primitive')
    return readText(pieces.text, shape, encoding, '');
  if (pieces.form === 'array')
    return yield* readList(pieces.texts, shape.items, encoding, '');
  if (pieces.form === 'object')
    return yield* readMembers(pieces.pairs, shape, encoding, new Bag());
  return yield* readDeep(pieces.entries, shape, encoding);
}

/** JSON in a text. @throws Unreadable */
export function readDocument(
  pieces: Pieces,
  encoding: Encoding,
  maxDepth: number | undefined,
): Reading {
  const text = read(pieces, ANYTHING, encoding) as string;
  return readJsonText(text, maxDepth);
}

function readText(
  raw: string,
  shape: Shape | null,
  encoding: Encoding,
  pointer: string,
): unknown {
  const text = decode(raw, encoding);
  if (text === undefined)
    refuse('must be UTF-8 in valid percent-encoding', 'encoding', pointer);
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
  const grouped = new LargeMap<string, string[]>();
  let count = 0;
  for (const [rawName, text] of pairs) {
    if (++count % STEP === 0) yield;
    const name = decode(rawName, encoding);
    if (name === undefined)
      refuse('must have names in valid percent-encoding', 'encoding');
    const existing = grouped.get(name);
    if (existing) existing.push(text);
    else grouped.add(name, [text]);
  }
  const names = grouped.exceeds(WIDE) ? Object.keys(object) : null;
  if (names !== null) wideNames.set(object, names);
  const members: Record<string, unknown> = object;
  for (const [name, texts] of grouped) {
    if (++count % STEP === 0) yield;
    const member = shape.members.get(name) ?? shape.others;
    members[name] = yield* readTexts(texts, member, encoding, pointerOf(name));
    names?.push(name);
  }
  return object;
}

/** Clients repeat the name of a list for each entry. */
function* readTexts(
  texts: readonly string[],
  shape: Shape | null,
  encoding: Encoding,
  pointer: string,
): Steps<unknown> {
  if (shape?.types?.has('array'))
    return yield* readList(texts, shape.items, encoding, pointer);
  if (texts.length > 1) refuse('is given more than once', 'repeated', pointer);
  return readText(texts[0]!, shape, encoding, pointer);
}

/** A text that does not match the type stays text, so that the schema refuses it. */
function typed(text: string, types: ReadonlySet<string> | null): unknown {
  if (types === null) return text;
  if (types.has('integer') && isInteger(text)) return exact(text) ?? text;
  if (types.has('number') && isNumber(text)) return exact(text) ?? text;
  if (types.has('boolean') && (text === 'true' || text === 'false'))
    return text === 'true';
  return text;
}

/** qs takes deeper brackets for a part of the name. */
const DEEPEST = 5;

/**
 * Names with several brackets. Readers of queries have similar limits, and more would take too long
 * in one step.
 */
const MOST = 4_096;

const NAME = /^([^[]+)((?:\[[^[\]]*\])+)$/;

/**
 * Whether a server reads an undescribed name as something else: Rails, PHP and qs take `a[]` and
 * `a[b]` for `a`, PHP `a.b` for `a_b`, ASP.NET `A` for `a`; Rails and Laravel take the method of
 * the request from `_method`. `folded`: the described names.
 */
export function isMisread(name: string, folded: ReadonlySet<string>): boolean {
  if (name === '_method' || folded.has(fold(name))) return true;
  const bracket = name.indexOf('[');
  return bracket > 0 && folded.has(fold(name.slice(0, bracket)));
}

export const fold = (name: string): string =>
  name.trimStart().replaceAll(/[ .[]/g, '_').toLowerCase();

/** `null` without brackets, or with brackets that servers read differently. */
export function readBrackets(
  name: string,
): { readonly root: string; readonly path: readonly string[] } | null {
  const [, root, brackets] = NAME.exec(name) ?? [];
  if (root === undefined) return null;
  const path = brackets!.slice(1, -1).split('][');
  return path.length > DEEPEST ? null : { root, path };
}

/**
 * Lists are `a[]=x&a[]=y`, `a[0]=x&a[1]=y` or, below the first level, `a[b]=x&a[b]=y`, as qs,
 * axios, Rails and PHP send them. OpenAPI does not define deeper levels. @throws Unreadable
 */
function* readDeep(
  entries: readonly DeepEntry[],
  shape: Shape | null,
  encoding: Encoding,
  pointer = '',
  depth = 0,
): Steps<unknown> {
  if (entries.length > MOST)
    refuse(`has more than ${MOST} members in brackets`, 'complexity', pointer);
  const types = shape?.types ?? null;
  const texts = entries.flatMap(([path, text]) =>
    path.length === depth ? [text] : [],
  );
  if (texts.length === entries.length)
    return yield* readTexts(texts, shape, encoding, pointer);
  if (texts.length > 0) refuse('is given more than once', 'repeated', pointer);
  const mayBeList = types === null || types.has('array');
  const groups = groupsOf(entries, depth, mayBeList);
  const isList =
    mayBeList && groups.keys().every((name, i) => name === String(i));
  if (!isList && types?.has('array') && !types.has('object'))
    refuse(
      'must be written like a[]=x&a[]=y or a[0]=x&a[1]=y',
      'style',
      pointer,
    );
  const value: Record<string, unknown> | unknown[] = isList ? [] : new Bag();
  for (const [name, group] of groups) {
    const member = isList
      ? shape?.items
      : (shape?.members.get(name) ?? shape?.others);
    (value as Record<string, unknown>)[name] = yield* readDeep(
      group,
      member ?? null,
      encoding,
      pointer + pointerOf(name),
      depth + 1,
    );
  }
  return value;
}

const pointerOf = (name: string) => `/${escapeToken(printable(name))}`;

/** By the name at this depth. Each `[]` is an entry of a list. */
function groupsOf(
  entries: readonly DeepEntry[],
  depth: number,
  mayBeList: boolean,
): ReadonlyMap<string, readonly DeepEntry[]> {
  const appended =
    mayBeList &&
    entries.every(([path]) => path[depth] === '' && path.length === depth + 1);
  return Map.groupBy(entries, ([path], i) =>
    appended ? String(i) : path[depth]!,
  );
}

/** Whether an object has members that need more brackets than a name may have. */
export function isTooDeep(shape: Shape): boolean {
  const seen = new Set<Json | null>();
  let level: readonly (Shape | null)[] = [shape];
  for (let depth = 0; depth < DEEPEST; depth++) {
    level = level.flatMap((one) => {
      if (one === null || seen.has(one.schema)) return [];
      seen.add(one.schema);
      return [...one.members.values(), one.items, one.others];
    });
  }
  return level.some(
    (one) => one?.types?.has('object') && !seen.has(one.schema),
  );
}
