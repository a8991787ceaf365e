/**
 * Characters that the `u` flag allows after a backslash, and letters and digits, whose escapes have another meaning.
 */
const NEEDFUL = /[$()*+./?[\\\]^{|}\p{ID_Continue}]/u;

const LONG_ESCAPE = String.raw`\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z])`;
/** A class ends before its members. */
const OUTSIDE = new RegExp(String.raw`${LONG_ESCAPE}|\\(?<escaped>.)|\{\d+(?:,\d*)?\}|(?<opening>\[\^?)|[\]{}]`, 'gsu');
const MEMBER = new RegExp(String.raw`${LONG_ESCAPE}|\\(?<escaped>.)|[^\]]`, 'suy');
const CLASS_ESCAPE = /^\\[dDsSwWpP]/;

/**
 * Spells annex B of ECMA-262 as the `u` flag requires: unnecessary escapes (`\@`), literal braces and brackets (`{a}`,
 * `]`, `x{,3}`), and `[\w-.]`. Escaped letters stay: the authors of `\A` and `\Z` mean something else than an A and a
 * Z.
 */
export function inUnicodeSpelling(source: string): string {
  let text = '';
  let at = 0;
  for (OUTSIDE.lastIndex = 0; ; OUTSIDE.lastIndex = at) {
    const found = OUTSIDE.exec(source);
    if (!found) return text + source.slice(at);
    const [sign] = found;
    const { escaped, opening } = found.groups!;
    text += source.slice(at, found.index);
    at = found.index + sign.length;
    if (opening !== undefined) {
      const members = membersFrom(source, at);
      text += opening + members.text;
      at = members.end + 1;
      text += ']';
    } else if (escaped !== undefined) {
      // A class of one character cannot combine with the text around it.
      text += isNeedful(escaped) ? sign : `[${escaped}]`;
    } else text += sign.length > 1 ? sign : `\\${sign}`;
  }
}

function membersFrom(source: string, start: number): { readonly text: string; readonly end: number } {
  let end = start;
  let text = '';
  const take = (): string | null => {
    MEMBER.lastIndex = end;
    const found = MEMBER.exec(source);
    if (!found) return null;
    end = MEMBER.lastIndex;
    const escaped = found.groups!.escaped;
    if (found[0] === '-') return '\\-';
    return escaped === undefined || escaped === '-' || isNeedful(escaped) ? found[0] : escaped;
  };
  for (let from = take(); from !== null; from = take()) {
    text += from;
    if (source[end] !== '-' || source[end + 1] === ']') continue;
    end++;
    const to = take() ?? '';
    text += (CLASS_ESCAPE.test(from) || CLASS_ESCAPE.test(to) ? '\\-' : '-') + to;
  }
  return { text, end };
}

const isNeedful = (escaped: string): boolean => escaped !== '_' && NEEDFUL.test(escaped);
