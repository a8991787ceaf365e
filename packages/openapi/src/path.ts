const UNRESERVED = /^[A-Za-z0-9._~-]$/;
const TRIPLET = /^%[0-9A-Fa-f]{2}$/;
/** Characters that a segment may have unencoded (RFC 3986 section 3.3), but for `;`. */
const ENCODED = /%(2[146-9A-C]|3[AD]|40)/g;
/** A private character stands for an encoded one, so that offsets stay those of the path. */
const MARKS = 0xe000;
const MARK = /[\ue021-\ue040]/g;

/**
 * RFC 3986 section 6.2.2: what is equivalent for every reader. `%` begins a triplet, or is itself
 * encoded. A reserved character stays as it is: an encoded comma may be data.
 */
export function normalPath(text: string): string {
  return text.replace(
    /%[0-9A-Fa-f]{2}|[^A-Za-z0-9._~!$&'()*+,;=:@/-]+/g,
    (found) => {
      if (!TRIPLET.test(found)) return encodeURIComponent(found);
      const character = String.fromCharCode(
        Number.parseInt(found.slice(1), 16),
      );
      return UNRESERVED.test(character) ? character : found.toUpperCase();
    },
  );
}

/**
 * Operations and prefixes are compared in this form: percent-encoded only where necessary,
 * because most backends choose by the decoded path.
 */
export function canonicalPath(text: string): string {
  const normal = normalPath(text);
  return normal.includes('%')
    ? normal.replace(ENCODED, decodeURIComponent)
    : normal;
}

/** Of a normal path: has the length of its canonical form. */
export function marked(normal: string): string {
  return normal.replace(ENCODED, (_, code: string) =>
    String.fromCharCode(MARKS + Number.parseInt(code, 16)),
  );
}

export function unmarked(text: string): string {
  return text.replace(
    MARK,
    (mark) => `%${(mark.charCodeAt(0) - MARKS).toString(16).toUpperCase()}`,
  );
}
