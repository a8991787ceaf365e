import { type CharacterSet, type Characters, TEXT_END, TEXT_START } from './characters.ts';

export type Term =
  | { readonly kind: 'character'; readonly set: CharacterSet }
  | { readonly kind: 'sequence'; readonly parts: readonly Term[] }
  | { readonly kind: 'choice'; readonly options: readonly Term[] }
  | { readonly kind: 'repeat'; readonly body: Term; readonly least: number; readonly most: number }
  | { readonly kind: 'lookahead'; readonly body: Term; readonly negative: boolean }
  /** Depends on the surrounding or earlier text: `\b`, look-behind, back-references. */
  | { readonly kind: 'context'; readonly what: string };

const GROUP = /\((?:\?(?:<([=!])|([:=!])|<[^>]*>|[a-z-]*:))?/uy;
const ESCAPE =
  /\\(?:[pP]\{[^}]*\}|u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)/uy;
const BACK_REFERENCE = /\\(?:[1-9][0-9]*|k<[^>]*>)/uy;
const SYNTAX_CHARACTER = /^\\[$()*+./?[\\\]^{|}]$/u;
const CLASS = /\.|\[(?:[^\]\\]|\\.)*\]/suy;
const LITERAL = /./suy;
const QUANTIFIER = /(?:([*+?])|\{([0-9]+)(,?)([0-9]*)\})\??/uy;

const character = (set: CharacterSet): Term => ({ kind: 'character', set });

/** `new RegExp(source, 'u')` has accepted the pattern, so it is not validated again. */
export function parse(source: string, characters: Characters): Term {
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
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  function sequence(): Term {
    const parts: Term[] = [];
    for (let c = source[at]; c !== undefined && c !== '|' && c !== ')'; c = source[at]) parts.push(quantified(atom(c)));
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  function quantified(body: Term): Term {
    const found = take(QUANTIFIER);
    if (!found) return body;
    const [, sign, count, comma, limit] = found;
    const endless = Number.POSITIVE_INFINITY;
    if (sign) return { kind: 'repeat', body, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : endless };
    const most = comma ? Number(limit || endless) : Number(count);
    return { kind: 'repeat', body, least: Number(count), most };
  }

  function atom(c: string): Term {
    if (c === '(') return group();
    if (c === '\\') return escaped();
    if (c === '[' || c === '.') return character(characters.of(take(CLASS)![0]));
    const [literal] = take(LITERAL)!;
    if (c === '^') return character([[TEXT_START, TEXT_START]]);
    if (c === '$') return character([[TEXT_END, TEXT_END]]);
    return character(characters.one(literal.codePointAt(0)!));
  }

  function escaped(): Term {
    if (take(BACK_REFERENCE)) return { kind: 'context', what: 'a back-reference' };
    const [text] = take(ESCAPE)!;
    if (text === '\\b' || text === '\\B') return { kind: 'context', what: text };
    return character(SYNTAX_CHARACTER.test(text) ? characters.one(text.charCodeAt(1)) : characters.of(text));
  }

  function group(): Term {
    const [opening, behind, kind] = take(GROUP)!;
    const body = choice();
    at++;
    if (behind) return { kind: 'context', what: 'a look-behind' };
    if (kind === '=' || kind === '!') return { kind: 'lookahead', body, negative: kind === '!' };
    if (/^\(\?[a-z-]+:/u.test(opening)) return { kind: 'context', what: 'a group with flags' };
    return body;
  }

  return choice();
}
