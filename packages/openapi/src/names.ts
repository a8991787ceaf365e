const LONGEST = 64;
/** Control, format and private characters, unpaired surrogates, line separators (Unicode general categories). */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** Makes a client's name safe for an error text: at most 64 printable characters. */
export function printable(name: string): string {
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  const printable = short.replace(UNPRINTABLE, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`);
  return printable.length > LONGEST ? `${printable.slice(0, LONGEST - 1)}…` : printable;
}

/** RFC 6901 section 3. */
export const escapeToken = (token: string): string => token.replaceAll('~', '~0').replaceAll('/', '~1');

/** RFC 6901 section 4. */
export const unescapeToken = (token: string): string => token.replaceAll('~1', '/').replaceAll('~0', '~');

/** With unchanged names. */
export const pointerTo = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${escapeToken(String(token))}`).join('');

/** A JSON pointer with a client's names, made safe for an error text. */
export const printablePointer = (tokens: readonly (string | number)[]): string =>
  pointerTo(tokens.map((token) => (typeof token === 'string' ? printable(token) : token)));
