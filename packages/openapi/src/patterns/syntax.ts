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
  return new Parser(source, characters).choice();
}

class Parser {
  readonly source: string;
  readonly characters: Characters;
  at = 0;

  constructor(source: string, characters: Characters) {
    this.source = source;
    this.characters = characters;
  }

  take(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = this.at;
    const found = syntax.exec(this.source);
    if (found) this.at += found[0].length;
    return found;
  }

  choice(): Term {
    const options = [this.sequence()];
    while (this.source[this.at] === '|') {
      this.at++;
      options.push(this.sequence());
    }
    return options.length === 1 ? options[0]! : { kind: 'choice', options };
  }

  sequence(): Term {
    const parts: Term[] = [];
    for (let c = this.source[this.at]; c !== undefined && c !== '|' && c !== ')'; c = this.source[this.at]) {
      parts.push(this.quantified(this.atom(c)));
    }
    return parts.length === 1 ? parts[0]! : { kind: 'sequence', parts };
  }

  quantified(body: Term): Term {
    const found = this.take(QUANTIFIER);
    if (!found) return body;
    const [, sign, count, comma, limit] = found;
    const endless = Number.POSITIVE_INFINITY;
    if (sign) return { kind: 'repeat', body, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : endless };
    const most = comma ? Number(limit || endless) : Number(count);
    return { kind: 'repeat', body, least: Number(count), most };
  }

  atom(c: string): Term {
    if (c === '(') return this.group();
    if (c === '\\') return this.escape();
    if (c === '[' || c === '.') return character(this.characters.of(this.take(CLASS)![0]));
    const [literal] = this.take(LITERAL)!;
    if (c === '^') return character([[TEXT_START, TEXT_START]]);
    if (c === '$') return character([[TEXT_END, TEXT_END]]);
    return character(this.characters.one(literal.codePointAt(0)!));
  }

  escape(): Term {
    if (this.take(BACK_REFERENCE)) return { kind: 'context', what: 'a back-reference' };
    const [text] = this.take(ESCAPE)!;
    if (text === '\\b' || text === '\\B') return { kind: 'context', what: text };
    return character(SYNTAX_CHARACTER.test(text) ? this.characters.one(text.charCodeAt(1)) : this.characters.of(text));
  }

  group(): Term {
    const [opening, behind, kind] = this.take(GROUP)!;
    const body = this.choice();
    this.at++;
    if (behind) return { kind: 'context', what: 'a look-behind' };
    if (kind === '=' || kind === '!') return { kind: 'lookahead', body, negative: kind === '!' };
    if (/^\(\?[a-z-]+:/u.test(opening)) return { kind: 'context', what: 'a group with flags' };
    return body;
  }
}
