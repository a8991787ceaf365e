import type { Rule } from '../../fault.ts';
import type { ValueFault } from '../../faults.ts';

export const MAX_PARTS = 1000;
/** In bytes, for one part. */
export const MAX_HEAD = 4096;

/** It shares the memory of the body. */
export interface RawPart {
  readonly head: Buffer;
  readonly content: Buffer;
}

export type Split =
  | { readonly parts: readonly RawPart[]; readonly fault: null }
  | { readonly parts?: never; readonly fault: ValueFault };

/** RFC 2046 section 5.1.1, without the space, which some readers cut off. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=?-]{1,70}$/;

export const isBoundary = (text: string): boolean => BOUNDARY.test(text);

const CRLF = Buffer.from('\r\n');
const DASHES = Buffer.from('--');
const END_OF_HEAD = Buffer.from('\r\n\r\n');

/**
 * Stricter than RFC 2046 section 5.1.1, because lenient readers differ: every line ends with CR LF, nothing surrounds
 * the parts except one final CR LF, and no part contains the boundary. Takes linear time and copies nothing.
 */
export function split(bytes: Uint8Array, boundary: string): Split {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const delimiter = Buffer.from(`--${boundary}`);
  if (!isAt(body, 0, delimiter)) return wrong('must begin with the boundary that its Content-Type names');
  const parts: RawPart[] = [];
  for (let at = delimiter.length; ; ) {
    if (isAt(body, at, DASHES)) return ended(body, at + DASHES.length, parts);
    if (!isAt(body, at, CRLF)) return wrong('has a boundary that is not a line of its own');
    if (parts.length === MAX_PARTS) return wrong(`has more than ${MAX_PARTS} parts`, 'complexity');
    const start = at + CRLF.length;
    const next = body.indexOf(delimiter, start);
    if (next < 0) return wrong(`has no end: ${nth(parts.length)} is not followed by the boundary`);
    const end = next - CRLF.length;
    if (end < start || !isAt(body, end, CRLF)) return wrong(`has its boundary inside ${nth(parts.length)}`);
    const length = body.subarray(start, Math.min(end, start + MAX_HEAD + END_OF_HEAD.length)).indexOf(END_OF_HEAD);
    if (length < 0) {
      const where = `of headers in ${nth(parts.length)}`;
      const long = end - start > MAX_HEAD;
      return long ? wrong(`has more than ${MAX_HEAD} bytes ${where}`, 'complexity') : wrong(`has no end ${where}`);
    }
    const content = start + length + END_OF_HEAD.length;
    parts.push({ head: body.subarray(start, start + length), content: body.subarray(content, end) });
    at = next + delimiter.length;
  }
}

export const nth = (index: number): string => `part ${index + 1}`;

function ended(body: Buffer, at: number, parts: readonly RawPart[]): Split {
  const over = at === body.length || (at + CRLF.length === body.length && isAt(body, at, CRLF));
  return over ? { parts, fault: null } : wrong('has something after its end');
}

const isAt = (body: Buffer, at: number, bytes: Buffer): boolean =>
  at + bytes.length <= body.length && body.compare(bytes, 0, bytes.length, at, at + bytes.length) === 0;

const wrong = (message: string, rule: Rule = 'syntax'): Split => ({ fault: { pointer: '', message, rule } });
