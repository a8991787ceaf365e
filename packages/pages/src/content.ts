import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { entityTag, hasTag } from './entity-tag.ts';

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

/** The best coding comes first, because browsers rank them equally. */
const CODINGS = ['br', 'gzip'] as const;
type Coding = (typeof CODINGS)[number];

const NOTHING = Buffer.alloc(0);

/** Fields of one name are joined with commas. */
export interface RequestFields {
  readonly ifNoneMatch?: string | undefined;
  readonly acceptEncoding?: string | undefined;
}

export interface Page {
  readonly status: 200 | 304 | 308;
  /** Flat: name, value, … */
  readonly headers: readonly string[];
  /** Shared with the content; do not change it. */
  readonly body: Buffer;
}

/** Created, hashed and compressed on the first request and then kept in every coding. */
export class Content {
  readonly #type: string;
  readonly #make: () => string | Buffer;
  #tag: string | null;
  #plain: Buffer | null = null;
  readonly #coded = new Map<Coding, Promise<Buffer>>();

  /** `type`: a text media type, always in UTF-8. `tag`: the entity tag if already known. */
  constructor(
    type: string,
    make: () => string | Buffer,
    tag: string | null = null,
  ) {
    this.#type = type;
    this.#make = make;
    this.#tag = tag;
  }

  get plain(): Buffer {
    if (!this.#plain) {
      const made = this.#make();
      this.#plain = typeof made === 'string' ? Buffer.from(made) : made;
    }
    return this.#plain;
  }

  /** One tag for all codings is a weak tag (RFC 9110 section 8.8.1). */
  get tag(): string {
    this.#tag ??= entityTag(this.plain);
    return `W/${this.#tag}`;
  }

  /** RFC 9110 section 8.4.1. */
  async coded(coding: Coding): Promise<Buffer> {
    const known = this.#coded.get(coding) ?? compress(coding, this.plain);
    this.#coded.set(coding, known);
    return await known;
  }

  /** 304 if the client has it. `own`: additional response headers, flat. */
  async page(
    { ifNoneMatch, acceptEncoding }: RequestFields,
    own: readonly string[],
  ): Promise<Page> {
    const headers = [...own, 'Vary', 'Accept-Encoding', 'ETag', this.tag];
    if (hasTag(ifNoneMatch, this.tag))
      return { status: 304, headers, body: NOTHING };
    headers.push('Content-Type', `${this.#type}; charset=utf-8`);
    const coding = CODINGS.find((coding) => takes(acceptEncoding, coding));
    if (!coding) return { status: 200, headers, body: this.plain };
    headers.push('Content-Encoding', coding);
    return { status: 200, headers, body: await this.coded(coding) };
  }
}

/** By name or by `*` (RFC 9110 section 12.5.3). */
function takes(acceptEncoding = '', coding: Coding): boolean {
  const weights = new Map(
    acceptEncoding
      .toLowerCase()
      .split(',')
      .map((item) => item.split(';').map((part) => part.trim()))
      .map(([name, weight]) => [name, weight]),
  );
  const name = weights.has(coding) ? coding : '*';
  return weights.has(name) && !/^q=0(?:\.0*)?$/.test(weights.get(name) ?? '');
}

/** Brotli level 11 takes seconds for the largest file and saves little. */
function compress(coding: Coding, plain: Buffer): Promise<Buffer> {
  if (coding === 'gzip') return zip(plain, { level: 9 });
  return brotli(plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  });
}
