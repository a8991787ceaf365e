const LONGEST = 64;
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** For an error text: at most 64 printable characters. */
export function printable(name: string): string {
  const short = name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
  const printable = short.replace(
    UNPRINTABLE,
    (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`,
  );
  return printable.length > LONGEST
    ? `${printable.slice(0, LONGEST - 1)}…`
    : printable;
}

/** RFC 6901 section 3. */
export const escapeToken = (token: string): string =>
  token.replaceAll('~', '~0').replaceAll('/', '~1');

/** RFC 6901 section 4. */
export const unescapeToken = (token: string): string =>
  token.replaceAll('~1', '/').replaceAll('~0', '~');

export const pointerTo = (tokens: readonly (string | number)[]): string =>
  tokens.map((token) => `/${escapeToken(String(token))}`).join('');

export const printablePointer = (
  tokens: readonly (string | number)[],
): string =>
  pointerTo(
    tokens.map((token) =>
      typeof token === 'string' ? printable(token) : token,
    ),
  );
