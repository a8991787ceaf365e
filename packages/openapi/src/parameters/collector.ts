import type { Steps } from '../slices.ts';
import {
  decode,
  type Encoding,
  fold,
  isMisread,
  readBrackets,
} from './reading.ts';
import { type Members, PRIMITIVES } from './shape.ts';
import {
  type DeepEntry,
  type Layout,
  type Pieces,
  takeApart,
  takeListApart,
} from './styles.ts';

export interface Collected extends Layout {
  readonly shape: Members;
  /** An empty text means that the client does not use the parameter. */
  readonly allowEmpty: boolean;
}

export type Sent = Pieces | 'repeated' | 'style' | 'unused';

export const NAME_ENCODING =
  'has a name that is not UTF-8 in valid percent-encoding';

interface Bucket {
  readonly texts: string[];
  readonly pairs: [string, string][];
  readonly entries: DeepEntry[];
}

type Unknown = (name: string | undefined, misread: boolean) => void;

interface Owner {
  readonly index: number;
  readonly member: string | null;
  readonly path?: readonly string[];
}

/** In steps. `unknown` gets `undefined` for a name that cannot be decoded. */
type Collect = (
  text: string,
  encoding: Encoding,
  unknown: Unknown,
) => Steps<readonly (Sent | null)[]>;

/** In parameters: less than a millisecond. */
const STEP = 1_000;
/** In characters. */
const LONG = 16 * 1024;

/**
 * An exploded object owns the names of its members and, if it allows additional members, every name
 * without another owner.
 */
export function createCollector(parameters: readonly Collected[]): Collect {
  const owners = new Map<string, Owner>();
  const deep = new Map<string, number>();
  const inParts: number[] = [];
  for (const [index, { name, style, form, explode }] of parameters.entries()) {
    if (style === 'deepObject') deep.set(name, index);
    else if (form === 'object' && explode) inParts.push(index);
    else owners.set(name, { index, member: null });
  }
  for (const index of inParts) {
    for (const name of parameters[index]!.shape.members.keys()) {
      if (!owners.has(name))
        owners.set(name, { index, member: encodeURIComponent(name) });
    }
  }
  const folded = new Set([...owners.keys(), ...deep.keys()].map(fold));
  const rest =
    inParts.find((index) => parameters[index]!.shape.others !== null) ?? -1;

  function ownerOf(name: string): Owner | null {
    const owner = owners.get(name) ?? deepOwner(name);
    if (owner) return owner;
    return rest < 0 || isMisread(name, folded)
      ? null
      : { index: rest, member: encodeURIComponent(name) };
  }

  /**
   * `color[R]` is the member R of color. `color` alone is its whole value, which is not an object.
   */
  function deepOwner(name: string): Owner | null {
    const whole = deep.get(name);
    if (whole !== undefined) return { index: whole, member: null };
    const brackets = deep.size === 0 ? null : readBrackets(name);
    const index = brackets === null ? undefined : deep.get(brackets.root);
    if (index === undefined) return null;
    const { path } = brackets!;
    return path.length > 1
      ? { index, member: null, path }
      : { index, member: encodeURIComponent(path[0]!) };
  }

  function sort(
    pair: string,
    encoding: Encoding,
    buckets: readonly Bucket[],
    unknown: Unknown,
  ): void {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), encoding);
    const owner = name === undefined ? null : ownerOf(name);
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    if (owner === null)
      unknown(name, name !== undefined && isMisread(name, folded));
    else if (owner.path) buckets[owner.index]!.entries.push([owner.path, text]);
    else if (owner.member === null) buckets[owner.index]!.texts.push(text);
    else buckets[owner.index]!.pairs.push([owner.member, text]);
  }

  return function* collect(text, encoding, unknown) {
    const buckets: Bucket[] = parameters.map(() => ({
      texts: [],
      pairs: [],
      entries: [],
    }));
    for (let at = 0, count = 1; at < text.length; count++) {
      if (count % STEP === 0) yield;
      const ampersand = text.indexOf('&', at);
      const end = ampersand < 0 ? text.length : ampersand;
      if (end > at) sort(text.slice(at, end), encoding, buckets, unknown);
      at = end + 1;
    }
    const all: (Sent | null)[] = [];
    for (const [index, bucket] of buckets.entries())
      all.push(yield* sent(parameters[index]!, bucket));
    return all;
  };
}

function* sent(
  parameter: Collected,
  { texts, pairs, entries }: Bucket,
): Steps<Sent | null> {
  if (texts.length === 0 && pairs.length === 0 && entries.length === 0)
    return null;
  const { form, explode, allowEmpty, style } = parameter;
  if (allowEmpty && texts.length === 1 && texts[0] === '') return 'unused';
  if (style === 'deepObject')
    return deepSent(parameter, { texts, pairs, entries });
  if (form === 'object' && explode) return { form, pairs };
  if (form === 'array' && explode) return { form, texts };
  if (texts.length > 1) return 'repeated';
  const [text] = texts as [string];
  return form === 'array' && text.length > LONG
    ? yield* takeListApart(parameter, text)
    : takeApart(parameter, text);
}

function deepSent(
  { form, shape: { types } }: Collected,
  { texts, pairs, entries }: Bucket,
): Sent {
  // It may also be a primitive value, which is written without brackets.
  const mayBePlain =
    form === 'primitive' || types?.isDisjointFrom(PRIMITIVES) === false;
  if (texts.length > 0) {
    if (!mayBePlain || pairs.length > 0 || entries.length > 0) return 'style';
    return texts.length > 1
      ? 'repeated'
      : { form: 'primitive', text: texts[0]! };
  }
  if (entries.length === 0 && form === 'array') {
    if (!pairs.every(([member], i) => member === '' || member === String(i)))
      return 'style';
    return { form, texts: pairs.map(([, text]) => text) };
  }
  if (entries.length === 0 && !types?.has('array'))
    return { form: 'object', pairs };
  const plain = pairs.map(
    ([member, text]): DeepEntry => [[decodeURIComponent(member)], text],
  );
  return { form: 'deep', entries: [...plain, ...entries] };
}
