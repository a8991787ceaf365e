import { styleText } from 'node:util';
import { MINUTE } from '../common/time.ts';
import { printable } from '../config/problems/quote.ts';

type Style = Parameters<typeof styleText>[0];

const LEVELS = new Map<number, readonly [name: string, style: Style]>([
  [30, ['info', 'green']],
  [40, ['warn', 'yellow']],
  [50, ['error', 'red']],
]);

interface Line {
  readonly level: number;
  readonly time: string;
  readonly msg: string;
  readonly err?: { readonly stack?: string };
  readonly [field: string]: unknown;
}

export function prettyLine(json: string, colour: boolean): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Line;
  const paint = (style: Style, text: string) =>
    colour ? styleText(style, text, { validateStream: false }) : text;
  const [name, style] = LEVELS.get(level)!;
  const message = Object.entries(fields).filter(([, value]) => value !== null);
  const shown = message.map(
    ([field, value]) => `${paint('dim', `${field}=`)}${printableValue(value)}`,
  );
  const head = [
    paint('dim', timeOfDay(time)),
    paint(style, name.padEnd(5)),
    paint('bold', printable(msg)),
    ...shown,
  ];
  return `${[head.join(' '), ...stackOf(err)].join('\n')}\n`;
}

/** The local time zone. */
function timeOfDay(time: string): string {
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * MINUTE)
    .toISOString()
    .slice('yyyy-mm-ddT'.length, -1);
}

/** Text from clients must not control the terminal. */
function printableValue(value: unknown): string {
  const plain = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return printable(plain ? value : JSON.stringify(value));
}

function stackOf(error: Line['err']): string[] {
  return error?.stack === undefined
    ? []
    : error.stack.split('\n').map((line) => `    ${printable(line.trim())}`);
}
