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
  /** As the client sent it; `port` with its colon. */
  readonly scheme?: 'http' | 'https';
  readonly port?: string;
}

export interface Page {
  readonly status: 200 | 304 | 308;
  /** Flat: name, value, … */
  readonly headers: readonly string[];
  /** Shared with the content; do not change it. */
  readonly body: Buffer;
}

/** The response to a request; 304 if the client has it. `own`: additional headers, flat. */
export type Content = (
  request: RequestFields,
  own: readonly string[],
) => Promise<Page>;

/**
 * Content that is created, hashed and compressed on the first request and then kept in every
 * coding. `type`: a media type of text, which is in UTF-8, or `image/png`. `knownTag`: the entity tag if already known.
 */
export function createContent(
  type: string,
  make: () => string | Buffer,
  knownTag: string | null = null,
): Content {
  const coded = new Map<Coding, Promise<Buffer>>();
  let made: Buffer | null = null;
  let strongTag = knownTag;

  function plain(): Buffer {
    if (made !== null) return made;
    const source = make();
    made = typeof source === 'string' ? Buffer.from(source) : source;
    return made;
  }

  /** RFC 9110 section 8.4.1. */
  function codedIn(coding: Coding): Promise<Buffer> {
    const encoded = coded.get(coding) ?? compress(coding, plain());
    coded.set(coding, encoded);
    return encoded;
  }

  return async ({ ifNoneMatch, acceptEncoding }, own) => {
    strongTag ??= entityTag(plain());
    // One tag for all codings is a weak tag (RFC 9110 section 8.8.1).
    const tag = `W/${strongTag}`;
    const headers = [...own, 'Vary', 'Accept-Encoding', 'ETag', tag];
    if (hasTag(ifNoneMatch, tag))
      return { status: 304, headers, body: NOTHING };
    const isBinary = type === 'image/png';
    headers.push('Content-Type', isBinary ? type : `${type}; charset=utf-8`);
    const coding = CODINGS.find((coding) => takes(acceptEncoding, coding));
    if (!coding) return { status: 200, headers, body: plain() };
    headers.push('Content-Encoding', coding);
    return { status: 200, headers, body: await codedIn(coding) };
  };
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
