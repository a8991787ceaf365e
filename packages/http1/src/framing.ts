import { type Fields, listed } from './fields.ts';
import { IS_TOKEN } from './grammar.ts';
import { malformed, WireError } from './wire-error.ts';

export type Framing = number | 'chunked' | 'until_close';

/** Short enough for 64-bit readers. */
const LENGTH = /^\d{1,18}$/;

/**
 * RFC 9112 section 6.3. Throws WireError if two readers could find two ends: both headers, one of
 * them repeated, a length that is not one run of digits, a coding in HTTP/1.0.
 */
export function framingOfRequest(
  { lengths, codings }: Fields,
  minor: number,
): number | 'chunked' {
  if (codings.length > 0) {
    if (lengths.length > 0)
      throw malformed(
        'The message has Content-Length and Transfer-Encoding. Send one of them.',
      );
    if (minor === 0)
      throw malformed(
        'HTTP/1.0 has no Transfer-Encoding. Send Content-Length, or HTTP/1.1.',
      );
    checkCodings(codings);
    return 'chunked';
  }
  return lengths.length === 0 ? 0 : lengthIn(lengths);
}

/** RFC 9112 section 6.3. Throws WireError as for requests. */
export function framingOfResponse(
  fields: Fields,
  minor: number,
  method: string,
  status: number,
): Framing {
  const { lengths, codings } = fields;
  const isFramed = lengths.length > 0 || codings.length > 0;
  // Checked although unused: a server with invalid framing must not keep its connection.
  const framing = isFramed ? framingOfRequest(fields, minor) : 'until_close';
  if (status < 200 && isFramed && framing !== 0)
    throw malformed('An interim response has a body. Send none.');
  return method === 'HEAD' || status < 200 || status === 204 || status === 304
    ? 0
    : framing;
}

/** A 204 response has no body, but another reader might find one. */
export function claimsBodyOf204(
  { lengths, codings }: Fields,
  status: number,
): boolean {
  return (
    status === 204 &&
    (codings.length > 0 || (lengths.length > 0 && Number(lengths[0]) !== 0))
  );
}

function lengthIn(lengths: readonly string[]): number {
  if (lengths.length > 1)
    throw malformed('Content-Length is repeated. Send it once.');
  if (!LENGTH.test(lengths[0]!))
    throw malformed(
      'Content-Length is not a whole number. Send the number of bytes in the body.',
    );
  return Number(lengths[0]);
}

function checkCodings(codings: readonly string[]): void {
  if (codings.length > 1)
    throw malformed('Transfer-Encoding is repeated. Send "chunked" once.');
  const coding = codings[0]!.toLowerCase();
  if (coding === 'chunked') return;
  const isList =
    !coding.includes('\t') && listed(coding).every((one) => IS_TOKEN.test(one));
  if (!isList)
    throw malformed('Transfer-Encoding is not valid. Send "chunked" once.');
  throw new WireError(
    'coding',
    `Transfer-Encoding ${/^[a-z, -]{1,20}$/.test(coding) ? `${coding} ` : ''}is not supported. Use chunked alone.`,
  );
}
