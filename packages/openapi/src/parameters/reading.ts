import { Bag } from '../bag.ts';
import type { ValueFault } from '../faults.ts';
import { printable } from '../names.ts';
import { exact, isInteger, isNumber } from '../numbers.ts';
import type { Shape } from './shape.ts';
import type { Pieces } from './styles.ts';

export type Reading =
  | { readonly value: unknown; readonly fault: null; readonly unlikeInteger?: boolean }
  | { readonly value?: never; readonly fault: ValueFault; readonly unlikeInteger?: never };

/** `undefined` if the encoding or its UTF-8 is invalid. */
export function decode(text: string, plusIsSpace: boolean): string | undefined {
  const plain = plusIsSpace && text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!plain.includes('%')) return plain;
  try {
    return decodeURIComponent(plain);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

export type Encoding = 'none' | 'percent' | 'form';

/** A text becomes a number or boolean if the schema requires one and the text is one. */
export function read(pieces: Pieces, shape: Shape, encoding: Encoding): Reading {
  if (pieces.form === 'primitive') return readText(pieces.text, shape, encoding, '');
  if (pieces.form === 'array') return readList(pieces.texts, shape.items, encoding, '');
  return readMembers(pieces.pairs, shape, encoding);
}

function readText(raw: string, shape: Shape | null, encoding: Encoding, pointer: string): Reading {
  const text = encoding === 'none' ? raw : decode(raw, encoding === 'form');
  if (text === undefined)
    return { fault: { pointer, message: 'must be UTF-8 in valid percent-encoding', rule: 'encoding' } };
  return { value: typed(text, shape?.types ?? null), fault: null };
}

function readList(texts: readonly string[], items: Shape | null, encoding: Encoding, pointer: string): Reading {
  const list: unknown[] = [];
  for (const [i, text] of texts.entries()) {
    const item = readText(text, items, encoding, `${pointer}/${i}`);
    if (item.fault) return item;
    list.push(item.value);
  }
  return { value: list, fault: null };
}

function readMembers(pairs: readonly (readonly [string, string])[], shape: Shape, encoding: Encoding): Reading {
  const grouped = new Map<string, string[]>();
  for (const [rawName, text] of pairs) {
    const name = encoding === 'none' ? rawName : decode(rawName, encoding === 'form');
    if (name === undefined)
      return { fault: { pointer: '', message: 'must have names in valid percent-encoding', rule: 'encoding' } };
    const texts = grouped.get(name);
    if (texts) texts.push(text);
    else grouped.set(name, [text]);
  }
  const object = new Bag();
  for (const [name, texts] of grouped) {
    const member = readMember(name, texts, shape.members.get(name) ?? shape.others, encoding);
    if (member.fault) return member;
    object[name] = member.value;
  }
  return { value: object, fault: null };
}

/** Clients repeat the name of a list member for each entry. */
function readMember(name: string, texts: readonly string[], shape: Shape | null, encoding: Encoding): Reading {
  const pointer = `/${printable(name).replaceAll('~', '~0').replaceAll('/', '~1')}`;
  if (shape?.types?.has('array')) return readList(texts, shape.items, encoding, pointer);
  if (texts.length > 1) return { fault: { pointer, message: 'is given more than once', rule: 'repeated' } };
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
