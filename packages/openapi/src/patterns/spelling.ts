/**
 * Characters that the `u` flag allows after a backslash, and letters and digits, whose escapes have
 * another meaning.
 */
const NEEDFUL = /[$()*+./?[\\\]^{|}\p{ID_Continue}]/u;

const LONG_ESCAPE = String.raw`\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z])`;
const OUTSIDE = new RegExp(
  String.raw`${LONG_ESCAPE}|\\(?<escaped>.)|\{\d+(?:,\d*)?\}|(?<opening>\[\^?)(?<members>(?:\\.|[^\]\\])*)\]|[\]{}]`,
  'gsu',
);
const MEMBER = new RegExp(String.raw`${LONG_ESCAPE}|\\.|.`, 'gsu');
const CLASS_ESCAPE = /^\\[dDsSwWpP]/;

/**
 * Spells annex B of ECMA-262 as the `u` flag requires: unnecessary escapes (`\@`), literal braces
 * and brackets (`{a}`, `]`, `x{,3}`), and `[\w-.]`. Escaped letters stay: the authors of `\A` and
 * `\Z` mean something else than an A and a Z.
 */
export function inUnicodeSpelling(source: string): string {
  return source.replace(OUTSIDE, (sign: string, ...found) => {
    const { escaped, opening, members } = found.at(-1) as Partial<Record<string, string>>;
    if (members !== undefined) return `${opening}${inClass(members)}]`;
    // A class of one character cannot combine with the text around it.
    if (escaped !== undefined) return isNeedful(escaped) ? sign : `[${escaped}]`;
    return sign.length > 1 ? sign : `\\${sign}`;
  });
}

function inClass(members: string): string {
  const signs = members.match(MEMBER) ?? [];
  let text = '';
  for (let i = 0; i < signs.length; i++) {
    const from = signs[i]!;
    text += asMember(from);
    if (signs[i + 1] !== '-' || i + 2 === signs.length) continue;
    const to = signs[i + 2]!;
    text += (CLASS_ESCAPE.test(from) || CLASS_ESCAPE.test(to) ? '\\-' : '-') + asMember(to);
    i += 2;
  }
  return text;
}

function asMember(sign: string): string {
  if (sign === '-') return '\\-';
  const escaped = /^\\(.)$/su.exec(sign)?.[1];
  return escaped === undefined || escaped === '-' || isNeedful(escaped) ? sign : escaped;
}

const isNeedful = (escaped: string): boolean => escaped !== '_' && NEEDFUL.test(escaped);
