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
const CLASS = /\[(?:[^\]\\]|\\.)*\]/suy;
const COUNT = /\{([0-9]+)(,?)([0-9]*)\}/uy;

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
    const bounds = this.bounds();
    if (!bounds) return body;
    if (this.source[this.at] === '?') this.at++;
    const [least, most] = bounds;
    return { kind: 'repeat', body, least, most };
  }

  bounds(): readonly [number, number] | null {
    const c = this.source[this.at];
    if (c === '{') {
      const [, least, comma, most] = this.take(COUNT)!;
      return [Number(least), comma === '' ? Number(least) : most === '' ? Number.POSITIVE_INFINITY : Number(most)];
    }
    if (c !== '*' && c !== '+' && c !== '?') return null;
    this.at++;
    return [c === '+' ? 1 : 0, c === '?' ? 1 : Number.POSITIVE_INFINITY];
  }

  atom(c: string): Term {
    if (c === '(') return this.group();
    if (c === '^' || c === '$') {
      this.at++;
      const symbol = c === '^' ? TEXT_START : TEXT_END;
      return { kind: 'character', set: [[symbol, symbol]] };
    }
    if (c === '[') return { kind: 'character', set: this.characters.of(this.take(CLASS)![0]) };
    if (c === '\\') return this.escape();
    return this.literal(c);
  }

  literal(c: string): Term {
    if (c === '.') {
      this.at++;
      return { kind: 'character', set: this.characters.of('.') };
    }
    const character = this.source.codePointAt(this.at)!;
    this.at += character > 0xffff ? 2 : 1;
    return { kind: 'character', set: this.characters.one(character) };
  }

  escape(): Term {
    const reference = this.take(BACK_REFERENCE);
    if (reference) return { kind: 'context', what: 'a back-reference' };
    const [text] = this.take(ESCAPE)!;
    if (text === '\\b' || text === '\\B') return { kind: 'context', what: text };
    const itself = SYNTAX_CHARACTER.test(text) ? text.charCodeAt(1) : undefined;
    return { kind: 'character', set: itself === undefined ? this.characters.of(text) : this.characters.one(itself) };
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
