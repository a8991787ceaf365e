import { styleText } from 'node:util';
import { fromNow } from '@storegate/admin-api/text';
import { CommandError } from './connect/api.ts';
import type { Terminal } from './terminal.ts';

export const FORMATS = ['table', 'json', 'csv'] as const;

export interface OutputOptions {
  readonly json?: true;
  readonly output?: (typeof FORMATS)[number];
  readonly quiet?: true;
  readonly absolute?: true;
}

export type View<T> = (value: T, page: Page) => string;

type Row<K extends string> = Readonly<Partial<Record<K, unknown>>>;

export function print<T>(
  terminal: Terminal,
  options: OutputOptions,
  value: T,
  view: View<T>,
): void {
  const format = options.json ? 'json' : options.output;
  if (format === 'csv')
    throw new CommandError('Only "usage report" has "-o csv".', {
      failure: 'usage',
    });
  terminal.out(
    format === 'json'
      ? `${JSON.stringify(value)}\n`
      : view(value, new Page(terminal, options)),
  );
}

/** `none`: the sentence for an empty list. */
export function listView<T, K extends string>(
  columns: readonly K[],
  none: string,
  rowOf: (item: T) => Row<K> = (item) => item as Row<K>,
): View<readonly T[]> {
  return (items, page) => page.table(columns, items.map(rowOf), none);
}

export const showCard: View<object> = (item, page) => page.card(item);

/** `--quiet` leaves it out. */
export function doneView<T>(sentence: (value: T) => string): View<T> {
  return (value, page) => page.notes(sentence(value));
}

/** Commands need their values. */
const UNCUT: ReadonlySet<string> = new Set([
  'id',
  'key',
  'name',
  'request id',
  'subject',
]);
const MIN_WIDTH = 8;
const GAP = 2;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

const COLOURS: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  active: 'green',
  disabled: 'yellow',
  expired: 'yellow',
  revoked: 'red',
};

export class Page {
  readonly #isColoured: boolean;
  readonly #width: number;
  readonly #options: OutputOptions;

  constructor(
    { isTerminal, env, width }: Pick<Terminal, 'isTerminal' | 'env' | 'width'>,
    options: OutputOptions,
  ) {
    this.#isColoured = isTerminal && !env.NO_COLOR;
    this.#width = (isTerminal && width) || Number.POSITIVE_INFINITY;
    this.#options = options;
  }

  table<K extends string>(
    columns: readonly K[],
    rows: readonly Row<K>[],
    none = '',
  ): string {
    if (rows.length === 0) return none === '' ? '' : `${none}\n`;
    const lines = [
      columns.map(titleOf),
      ...rows.map((row) => columns.map((name) => this.#cell(row[name]))),
    ];
    const widths = columns.map((_, i) =>
      Math.max(...lines.map((line) => line[i]!.length)),
    );
    this.#cut(columns, widths);
    return lines
      .map((line, i) => {
        const cells = line.map((cell, j) =>
          cutTo(cell, widths[j]!).padEnd(
            j === widths.length - 1 ? 0 : widths[j]!,
          ),
        );
        return `${cells
          .map((cell) =>
            this.#coloured(cell, i === 0 ? 'bold' : COLOURS[cell.trimEnd()]),
          )
          .join(' '.repeat(GAP))
          .trimEnd()}\n`;
      })
      .join('');
  }

  card(fields: object): string {
    const entries = Object.entries(fields).map(
      ([name, value]) => [titleOf(name), value] as const,
    );
    const width = Math.max(...entries.map(([title]) => title.length));
    return entries
      .map(([title, value]) =>
        `${this.#coloured(title.padEnd(width), 'bold')}  ${this.#cell(value)}`.trimEnd(),
      )
      .map((line) => `${line}\n`)
      .join('');
  }

  notes(...sentences: readonly string[]): string {
    return this.#options.quiet
      ? ''
      : sentences.map((sentence) => `${safeText(sentence)}\n`).join('');
  }

  #cell(value: unknown): string {
    return safeText(value, (text) =>
      TIME.test(text) && !this.#options.absolute ? fromNow(text) : text,
    );
  }

  #coloured(
    text: string,
    style: Parameters<typeof styleText>[0] | undefined,
  ): string {
    return style === undefined || !this.#isColoured
      ? text
      : styleText(style, text, { validateStream: false });
  }

  #cut(columns: readonly string[], widths: number[]): void {
    let over =
      widths.reduce((sum, width) => sum + width + GAP, -GAP) - this.#width;
    const cuttable = columns.flatMap((name, i) => (UNCUT.has(name) ? [] : [i]));
    while (over > 0) {
      const widest = cuttable.reduce(
        (best, i) => (widths[i]! > (widths[best] ?? 0) ? i : best),
        -1,
      );
      if (widest === -1 || widths[widest]! <= MIN_WIDTH) return;
      widths[widest]!--;
      over--;
    }
  }
}

/** The first `most` names, and how many more there are. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most
    ? `${shown} and ${names.length - most} more`
    : shown;
}

export const inSentence = (at: string): string => at.replace(/\.\d+(?=Z$)/, '');

/** The text cannot control a terminal. */
export function safeText(
  value: unknown,
  format: (text: string) => string = (text) => text,
): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value))
    return value.length === 0
      ? '-'
      : value.map((one) => safeText(one, format)).join(', ');
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    return entries.length === 0
      ? '-'
      : entries
          .map(([name, one]) => `${name}=${safeText(one, format)}`)
          .join(' ');
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return format(String(value)).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

const titleOf = (name: string): string =>
  name.replace(/[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`);

const cutTo = (text: string, width: number): string =>
  text.length > width ? `${text.slice(0, width - 1)}…` : text;
