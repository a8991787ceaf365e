import { styleText } from 'node:util';

/** A cell as an answer has it; the caller formats objects and lists. */
export type Cell = string | number | boolean | null | undefined;
export type Row<K extends string> = Readonly<Record<K, Cell>>;

const COLOURS: Readonly<Record<string, Parameters<typeof styleText>[0]>> = {
  active: 'green',
  disabled: 'yellow',
  expired: 'yellow',
  revoked: 'red',
};

/** Columns for a person, as wide as the text needs, with `-` for empty cells. */
export function table<K extends string>(columns: readonly K[], rows: readonly Row<K>[], colour: boolean): string {
  if (rows.length === 0) return 'None.\n';
  const lines = [columns as readonly string[], ...rows.map((row) => columns.map((column) => textOf(row[column])))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]!.length)));
  const padded = lines.map((line) => line.map((cell, i) => cell.padEnd(i === widths.length - 1 ? 0 : widths[i]!)));
  return `${padded.map((line, i) => (colour ? coloured(line, i === 0) : line).join('  ').trimEnd()).join('\n')}\n`;
}

/** One object, with a line for each of its fields. */
export function card(fields: object, colour: boolean): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  const lines = Object.entries(fields).map(([name, value]) => {
    const title = name.padEnd(width);
    return `${colour ? styleText('bold', title, { validateStream: false }) : title}  ${textOf(value)}`.trimEnd();
  });
  return `${lines.join('\n')}\n`;
}

/** A value in a cell or a line, safe to show. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-';
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(textOf).join(', ');
  if (typeof value === 'object') {
    const entries = Object.entries(value);
    return entries.length === 0 ? '-' : entries.map(([name, inner]) => `${name}=${textOf(inner)}`).join(' ');
  }
  // Text that other people typed must not control this terminal.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, '?');
}

function coloured(line: readonly string[], isHead: boolean): string[] {
  return line.map((cell) => {
    const style = isHead ? 'bold' : COLOURS[cell.trimEnd()];
    return style === undefined ? cell : styleText(style, cell, { validateStream: false });
  });
}
