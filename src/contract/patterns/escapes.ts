const ESCAPE_OR_BRACKET = /\\(.)|[[\]]/gsu;

/** What the `u` flag allows behind a backslash for itself, and letters and digits, which mean something else. */
const NEEDFUL = /[$()*+./?[\\\]^{|}\p{ID_Continue}]/u;

/**
 * The same pattern without escapes of characters that need none, such as `\@`, `\%` or `\"`. OpenAPI 3.0 names edition 5.1 of
 * ECMA-262, which takes them as the characters themselves (section 15.10.1, IdentityEscape); the `u` flag does not. `\_` is
 * in no edition, but every engine reads it as `_`. An escaped letter stays: `\A` and `\Z` mean an A and a Z there, and
 * their authors mean something else.
 */
export function withoutNeedlessEscapes(source: string): string {
  let inClass = false;
  return source.replace(ESCAPE_OR_BRACKET, (found, escaped: string | undefined) => {
    if (escaped === undefined) {
      inClass = found === '[' || (inClass && found !== ']');
      return found;
    }
    if (escaped !== '_' && (NEEDFUL.test(escaped) || (inClass && escaped === '-'))) return found;
    // A class of one, so that it cannot become a part of what stands around it.
    return inClass ? escaped : `[${escaped}]`;
  });
}
