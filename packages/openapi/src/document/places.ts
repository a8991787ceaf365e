import { LineCounter } from 'yaml';
import { pointerTo } from '../names.ts';
import type { Problem } from '../problems.ts';

export type Tokens = readonly (string | number)[];

export class SourceText {
  readonly file: string;
  readonly text: string;
  #lines: LineCounter | null = null;

  constructor(file: string, text: string) {
    this.file = file;
    this.text = text;
  }

  problem(offset: number, tokens: Tokens, message: string): Problem {
    const { line, col } = this.#counted().linePos(offset);
    return {
      file: this.file,
      place: `${line}:${col} ${pointerTo(tokens)}`.trimEnd(),
      message,
    };
  }

  #counted(): LineCounter {
    if (this.#lines) return this.#lines;
    this.#lines = new LineCounter();
    this.#lines.addNewLine(0);
    for (const { index } of this.text.matchAll(/\n/g))
      this.#lines.addNewLine(index + 1);
    return this.#lines;
  }
}

export interface Origin {
  readonly source: SourceText;
  readonly tokens: Tokens;
  /** Of the member, or of the whole if it is missing or `null`. */
  offset(key: string | number | null): number;
}

/** Also of objects that the bundler moved. */
export class Places {
  readonly #origins = new WeakMap<object, Origin>();
  readonly #parts = new WeakMap<object, readonly object[]>();

  set(value: object, origin: Origin): void {
    this.#origins.set(value, origin);
  }

  /** The place of a member is its place in the first part that has it. */
  join(whole: object, parts: readonly [object, ...object[]]): void {
    this.#origins.set(whole, this.origin(parts[0]));
    this.#parts.set(whole, parts);
  }

  /**
   * @throws Error if the object is not from a file, which is a bug.
   */
  origin(value: object): Origin {
    const origin = this.#origins.get(value);
    if (!origin)
      throw new Error(
        'an object that is not from the contract has no place in it',
      );
    return origin;
  }

  fileOf(value: object): string {
    return this.origin(value).source.file;
  }

  of(value: object, key: string | number | null, message: string): Problem {
    const part = this.#parts
      .get(value)
      ?.find((one) => key !== null && Object.hasOwn(one, key));
    if (part) return this.of(part, key, message);
    const origin = this.origin(value);
    const tokens = key === null ? origin.tokens : [...origin.tokens, key];
    return origin.source.problem(origin.offset(key), tokens, message);
  }
}
