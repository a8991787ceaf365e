import { decode } from './reading.ts';
import type { Shape } from './shape.ts';
import { type Layout, type Pieces, takeApart } from './styles.ts';

/** What a collector has to know about a parameter. */
export interface Collected extends Layout {
  readonly shape: Shape;
  /** An empty text means that the parameter is not used. */
  readonly allowEmpty: boolean;
}

/** What was sent for one parameter, or what is wrong with how it was sent. `unused`: nothing, but it may stay nothing. */
export type Sent = { readonly pieces: Pieces } | { readonly complaint: 'repeated' | 'style' } | 'unused';

/** All that was sent under the names of one parameter: raw texts, and the member each is for if it is an object in parts. */
interface Bucket {
  readonly texts: string[];
  readonly pairs: [string, string][];
}

/** Is told names that belong to no parameter; `undefined`: a name that cannot be decoded. */
export type Stranger = (name: string | undefined) => void;

/** Whose a name is: an index into the parameters, and the member if it is one of an object in parts, encoded. */
interface Owner {
  readonly index: number;
  readonly member: string | null;
}

/**
 * Sorts `name=text` pairs of a query, a form or a cookie header by the parameters they belong to. An exploded object owns
 * the names of its members; one that allows others owns every name that is nobody else's.
 */
export class Collector {
  readonly #parameters: readonly Collected[];
  readonly #owners = new Map<string, Owner>();
  /** Deep objects by name. */
  readonly #deep = new Map<string, number>();
  /** The exploded object that takes names nobody else has; -1: none. */
  readonly #rest: number;

  constructor(parameters: readonly Collected[]) {
    this.#parameters = parameters;
    const inParts: number[] = [];
    for (const [index, { name, style, form, explode }] of parameters.entries()) {
      if (style === 'deepObject') this.#deep.set(name, index);
      else if (form === 'object' && explode) inParts.push(index);
      else this.#owners.set(name, { index, member: null });
    }
    for (const index of inParts) {
      for (const name of parameters[index]!.shape.members.keys()) {
        if (!this.#owners.has(name)) this.#owners.set(name, { index, member: encodeURIComponent(name) });
      }
    }
    this.#rest = inParts.find((index) => parameters[index]!.shape.others !== null) ?? -1;
  }

  /** Sorts the pairs of `text`, which are separated by `&`. `stranger` is told the names that are nobody's. */
  collect(text: string, plusIsSpace: boolean, stranger: Stranger): (Sent | null)[] {
    const buckets: Bucket[] = this.#parameters.map(() => ({ texts: [], pairs: [] }));
    for (let at = 0; at < text.length; ) {
      const ampersand = text.indexOf('&', at);
      const end = ampersand < 0 ? text.length : ampersand;
      if (end > at) this.#sort(text.slice(at, end), plusIsSpace, buckets, stranger);
      at = end + 1;
    }
    return buckets.map((bucket, index) => sent(this.#parameters[index]!, bucket));
  }

  #sort(pair: string, plusIsSpace: boolean, buckets: readonly Bucket[], stranger: Stranger): void {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), plusIsSpace);
    const owner = name === undefined ? null : this.#ownerOf(name);
    const text = equals < 0 ? '' : pair.slice(equals + 1);
    if (owner === null) stranger(name);
    else if (owner.member === null) buckets[owner.index]!.texts.push(text);
    else buckets[owner.index]!.pairs.push([owner.member, text]);
  }

  #ownerOf(name: string): Owner | null {
    const owner = this.#owners.get(name) ?? this.#deepOwner(name);
    if (owner) return owner;
    return this.#rest < 0 ? null : { index: this.#rest, member: encodeURIComponent(name) };
  }

  /** `color[R]` is the member R of color. */
  #deepOwner(name: string): Owner | null {
    const open = name.indexOf('[');
    if (open < 1 || !name.endsWith(']')) return null;
    const index = this.#deep.get(name.slice(0, open));
    const member = name.slice(open + 1, -1);
    return index === undefined || /[[\]]/.test(member) ? null : { index, member: encodeURIComponent(member) };
  }
}

function sent(parameter: Collected, { texts, pairs }: Bucket): Sent | null {
  if (texts.length === 0 && pairs.length === 0) return null;
  const { form, explode, allowEmpty } = parameter;
  if (allowEmpty && texts.length === 1 && texts[0] === '') return 'unused';
  if (form === 'object' && explode) return { pieces: { form, pairs } };
  if (form === 'array' && explode) return { pieces: { form, texts } };
  if (texts.length > 1) return { complaint: 'repeated' };
  const pieces = takeApart(parameter, texts[0]!);
  return pieces ? { pieces } : { complaint: 'style' };
}
