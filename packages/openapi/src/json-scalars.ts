import { type Rule, refuse } from './faults.ts';
import { printablePointer } from './names.ts';
import { exact, isInteger, NUMBER } from './numbers.ts';

const SHORT = 64 * 1024;
const shared = new Uint16Array(SHORT);

/** Whether `codesOf` uses the shared array. */
export function isShort(text: string): boolean {
  return text.length + 2 <= SHORT;
}

/**
 * UTF-16, with two zeros behind. To read them costs half of `charCodeAt`. Valid until the next
 * call: shorter texts share an array.
 */
function codesOf(text: string): Uint16Array {
  const size = text.length + 2;
  const codes = isShort(text) ? shared : new Uint16Array(size);
  Buffer.from(codes.buffer).write(text, 'utf16le');
  codes[size - 2] = 0;
  codes[size - 1] = 0;
  return codes;
}

/** Reads what is neither an array nor an object, at `at`. @throws Unreadable */
export class ScalarReader {
  readonly text: string;
  /** Two zeros follow the text: an escape at its end skips one. */
  readonly codes: Uint16Array;
  at = 0;
  depth = 0;
  /** Entries from `depth` on are stale. */
  readonly way: (string | number)[] = [];
  readonly maxDepth: number;
  /** Whether faults name a byte of the text. */
  readonly #namesBytes: boolean;
  /** The last value is an integer in another notation, such as `1.0`. */
  unlikeInteger = false;

  constructor(text: string, maxDepth: number, namesBytes: boolean) {
    this.text = text;
    this.codes = codesOf(text);
    this.maxDepth = maxDepth;
    this.#namesBytes = namesBytes;
  }

  fail(message: string, rule: Rule = 'syntax'): never {
    const place = this.#namesBytes
      ? ` (at byte ${Buffer.byteLength(this.text.slice(0, this.at))})`
      : '';
    refuse(
      message + place,
      rule,
      printablePointer(this.way.slice(0, this.depth)),
      rule === 'depth' ? this.maxDepth : undefined,
    );
  }

  /** Returns the next character code, 0 at the end. */
  space(): number {
    const { codes } = this;
    for (;;) {
      const c = codes[this.at]!;
      if (c !== 32 && c !== 10 && c !== 13 && c !== 9) return c;
      this.at++;
    }
  }

  scalar(c: number): unknown {
    if (c === 34) return this.string();
    if (c === 116) return this.word('true', true);
    if (c === 102) return this.word('false', false);
    if (c === 110) return this.word('null', null);
    return this.number(c);
  }

  word<T>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at))
      this.fail('is not valid JSON: a value is expected');
    this.at += word.length;
    return value;
  }

  string(): string {
    const { codes } = this;
    const start = this.at + 1;
    for (let i = start; ; i++) {
      const c = codes[i]!;
      if (c === 34) {
        this.at = i + 1;
        return this.text.slice(start, i);
      }
      if (c === 92) return this.escapedString(start, i);
      if (c < 32) this.badString(i);
    }
  }

  /** JSON.parse costs too much for strings without escapes. */
  escapedString(start: number, from: number): string {
    const { text, codes } = this;
    let i = from;
    for (let c = 92; c !== 34; c = codes[i]!) {
      if (c < 32) this.badString(i);
      i += c === 92 ? 2 : 1;
    }
    let string: string;
    try {
      string = JSON.parse(text.slice(start - 1, i + 1));
    } catch {
      this.fail(
        'is not valid JSON: a string has an escape that does not exist',
      );
    }
    if (!string.isWellFormed())
      this.fail('has half a surrogate pair in a string', 'encoding');
    this.at = i + 1;
    return string;
  }

  badString(at: number): never {
    const ended = at >= this.text.length;
    this.at = Math.min(at, this.text.length);
    this.fail(
      `is not valid JSON: a string ${ended ? 'has no end' : 'has a control character in it'}`,
    );
  }

  number(first: number): number | bigint {
    const { codes } = this;
    const negative = first === 45;
    let i = negative ? this.at + 1 : this.at;
    const start = i;
    let value = 0;
    let c = negative ? codes[i]! : first;
    while (c >= 48 && c <= 57) {
      value = value * 10 + c - 48;
      c = codes[++i]!;
    }
    const digits = i - start;
    const plain =
      c !== 46 && c !== 101 && c !== 69 && digits > 0 && digits < 16;
    if (!plain || (digits > 1 && codes[start] === 48))
      return this.exactNumber();
    this.at = i;
    return negative ? -value : value;
  }

  exactNumber(): number | bigint {
    NUMBER.lastIndex = this.at;
    const text = NUMBER.exec(this.text)?.[0];
    if (text === undefined) this.fail('is not valid JSON: a value is expected');
    const value = exact(text);
    if (value === undefined)
      this.fail(
        'is a number too large or too precise to be read exactly',
        'precision',
      );
    this.at += text.length;
    if (Number.isInteger(Number(value)) && !isInteger(text))
      this.unlikeInteger = true;
    return value;
  }
}
