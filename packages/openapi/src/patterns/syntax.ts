import {
  CHARACTERS,
  type CharacterSet,
  TEXT_END,
  TEXT_START,
} from './characters.ts';

/** A condition on the text around a place: whether `body` matches right before or behind it. */
export interface Look {
  readonly body: Term;
  readonly behind: boolean;
}

/** A look-around reads no characters. */
export type Leaf = { readonly set: CharacterSet } & (
  | { readonly kind: 'character' }
  | { readonly kind: 'look'; readonly look: Look; readonly negative: boolean }
);

export type Term =
  | Leaf
  | { readonly kind: 'sequence'; readonly parts: readonly Term[] }
  | { readonly kind: 'choice'; readonly options: readonly Term[] }
  | {
      readonly kind: 'repeat';
      readonly body: Term;
      readonly least: number;
      readonly most: number;
    }
  | { readonly kind: 'back-reference' };

const GROUP = /\((?:\?(?:<([=!])|([:=!])|<[^>]*>|([a-z]*)(?:-([a-z]*))?:))?/uy;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)/uy;
const BACK_REFERENCE = /\\(?:[1-9][0-9]*|k<[^>]*>)/uy;
const SYNTAX_CHARACTER = /^\\[$()*+./?[\\\]^{|}]$/u;
const CLASS = /\.|\[(?:[^\]\\]|\\.)*\]/suy;
const LITERAL = /./suy;
const QUANTIFIER = /(?:([*+?])|\{([0-9]+)(,?)([0-9]*)\})\??/uy;

const LINE_END = '[\\n\\r\\u2028\\u2029]';

const character = (set: CharacterSet): Term => ({ kind: 'character', set });

const either = (...options: readonly Term[]): Term => ({
  kind: 'choice',
  options,
});

const both = (...parts: readonly Term[]): Term => ({ kind: 'sequence', parts });

const lookAt = (look: Look, negative = false): Term => ({
  kind: 'look',
  set: [],
  look,
  negative,
});

/** Whether the characters around a place are in a set. */
interface Looks {
  readonly before: Look;
  readonly after: Look;
  /** Exactly one of them. */
  readonly edge: Look;
}

function createLooks(set: CharacterSet): Looks {
  const before: Look = { body: character(set), behind: true };
  const after: Look = { body: character(set), behind: false };
  const end = both(lookAt(before), lookAt(after, true));
  const start = both(lookAt(before, true), lookAt(after));
  return { before, after, edge: { body: either(end, start), behind: false } };
}

/** `new RegExp(source, 'u')` has accepted the pattern, so it is not validated again. */
export function parse(source: string, outerFlags: '' | 'i'): Term {
  const looks = new Map<CharacterSet, Looks>();
  let flags: string = outerFlags;
  let at = 0;

  function take(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = at;
    const found = syntax.exec(source);
    if (found) at += found[0].length;
    return found;
  }

  function choice(): Term {
    const options = [sequence()];
    while (source[at] === '|') {
      at++;
      options.push(sequence());
    }
    return options.length === 1 ? options[0]! : either(...options);
  }

  function sequence(): Term {
    const parts: Term[] = [];
    for (
      let c = source[at];
      c !== undefined && c !== '|' && c !== ')';
      c = source[at]
    )
      parts.push(quantified(atom(c)));
    return parts.length === 1 ? parts[0]! : both(...parts);
  }

  function quantified(body: Term): Term {
    const found = take(QUANTIFIER);
    if (!found) return body;
    const [, sign, count, comma, limit] = found;
    const endless = Number.POSITIVE_INFINITY;
    if (sign)
      return {
        kind: 'repeat',
        body,
        least: sign === '+' ? 1 : 0,
        most: sign === '?' ? 1 : endless,
      };
    const most = comma ? Number(limit || endless) : Number(count);
    return { kind: 'repeat', body, least: Number(count), most };
  }

  function atom(c: string): Term {
    if (c === '(') return group();
    if (c === '\\') return escaped();
    if (c === '[' || c === '.') return character(named(take(CLASS)![0]));
    const [literal] = take(LITERAL)!;
    if (c === '^') return edge(TEXT_START);
    if (c === '$') return edge(TEXT_END);
    return character(characters().one(literal.codePointAt(0)!));
  }

  const characters = () => CHARACTERS[flags.includes('i') ? 'i' : ''];

  const named = (text: string) =>
    characters().of(text === '.' && flags.includes('s') ? '[^]' : text);

  function escaped(): Term {
    if (take(BACK_REFERENCE)) return { kind: 'back-reference' };
    const [text] = take(ESCAPE)!;
    if (text === '\\b' || text === '\\B')
      return lookAt(looksFor('\\w').edge, text === '\\B');
    return character(
      SYNTAX_CHARACTER.test(text)
        ? characters().one(text.charCodeAt(1))
        : characters().of(text),
    );
  }

  /** The text's, or with the flag `m` a line's. */
  function edge(symbol: number): Term {
    const ofText = character([[symbol, symbol]]);
    if (!flags.includes('m')) return ofText;
    const { before, after } = looksFor(LINE_END);
    return either(ofText, lookAt(symbol === TEXT_START ? before : after));
  }

  function looksFor(name: string): Looks {
    const set = characters().of(name);
    const found = looks.get(set) ?? createLooks(set);
    looks.set(set, found);
    return found;
  }

  function group(): Term {
    const [, behind, kind, on, off] = take(GROUP)!;
    const outer = flags;
    flags = [...flags, ...(on ?? '')]
      .filter((flag) => !off?.includes(flag))
      .join('');
    const body = choice();
    flags = outer;
    at++;
    if (behind) return lookAt({ body, behind: true }, behind === '!');
    if (kind && kind !== ':')
      return lookAt({ body, behind: false }, kind === '!');
    return body;
  }

  return choice();
}

export function* termsIn(term: Term): Generator<Term> {
  yield term;
  if (term.kind === 'sequence')
    for (const part of term.parts) yield* termsIn(part);
  if (term.kind === 'choice')
    for (const option of term.options) yield* termsIn(option);
  if (term.kind === 'repeat') yield* termsIn(term.body);
  if (term.kind === 'look') yield* termsIn(term.look.body);
}
