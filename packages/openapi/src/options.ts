import { demand } from './arguments.ts';
import { aText, type KeywordValues } from './dialect/dialect.ts';
import { hint } from './nearest.ts';

/** The default is the first value. */
export interface ReadingOptions {
  readonly unknownQuery?: 'refuse' | 'pass' | undefined;
  /** `off`: mistakes in responses and in unused parts are notes. */
  readonly responses?: 'enforce' | 'report' | 'off' | undefined;
  readonly onUnsupported?: 'refuse' | Treatment | undefined;
  /**
   * Whether request paths begin with the path of a server of the document; `auto`: if all servers
   * have the same.
   */
  readonly serverPath?: 'auto' | 'ignore' | 'prefix' | undefined;
  /** The meaning of `%2C` in a comma-separated list: a part of an entry, or a comma. */
  readonly encodedCommas?: 'data' | 'separators' | undefined;
  /** A `;` in a query, which some servers read as `&`. */
  readonly semicolon?: 'refuse' | 'pass' | undefined;
  /** `plain` digits, or also `1.0` and `1e2`. */
  readonly integers?: 'plain' | 'any' | undefined;
  /** For valid `readOnly` members of requests, which are never required. */
  readonly readOnly?: 'pass' | 'refuse' | undefined;
  readonly maxDepth?: number | undefined;
  /**
   * The name of the field of an operation that lets bodies pass that cannot be checked;
   * `x-unchecked-body`.
   */
  readonly uncheckedBodyField?: string | undefined;
}

/**
 * `omit`: the operation does not exist. `report`: faults are only reported. `pass`: requests are
 * not checked.
 */
export type Treatment = 'omit' | 'report' | 'pass';

const oneOf = (...values: readonly unknown[]): KeywordValues => [
  `must be ${values.join(', ')}`,
  (value) => values.includes(value),
];

const READING: Readonly<Record<keyof ReadingOptions, KeywordValues>> = {
  unknownQuery: oneOf('refuse', 'pass'),
  responses: oneOf('enforce', 'report', 'off'),
  onUnsupported: oneOf('refuse', 'omit', 'report', 'pass'),
  serverPath: oneOf('auto', 'ignore', 'prefix'),
  encodedCommas: oneOf('data', 'separators'),
  semicolon: oneOf('refuse', 'pass'),
  integers: oneOf('plain', 'any'),
  readOnly: oneOf('pass', 'refuse'),
  maxDepth: [
    'must be an integer of 1 or more',
    (value) => Number.isInteger(value) && Number(value) > 0,
  ],
  uncheckedBodyField: [
    'must be a name that begins with x-',
    (value) => /^x-./.test(String(value)),
  ],
};

const OPTIONS: Readonly<Record<string, KeywordValues>> = {
  ...READING,
  text: aText,
  extensions: [
    'must be an ExtensionReader, with the functions judgeField and read',
    isReader,
  ],
};

function isReader(value: unknown): boolean {
  const { judgeField, read } = Object(value);
  return typeof judgeField === 'function' && typeof read === 'function';
}

/** @throws TypeError */
export function checkOptions(options: unknown): void {
  demand(
    typeof options === 'object' && options !== null && !Array.isArray(options),
    'options must be an object',
  );
  for (const [name, value] of Object.entries(options)) {
    const rule = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined;
    if (rule === undefined) throw new TypeError(unknownOption(name));
    const [complaint, test] = rule;
    demand(
      value === undefined || test(value),
      `the option ${name} ${complaint}`,
    );
  }
}

function unknownOption(name: string): string {
  const names = Object.keys(OPTIONS);
  const others = `: the options are ${names.join(', ')}`;
  return `${name} is not an option${hint(name, names) || others}`;
}

const KEYS = Object.keys(READING) as (keyof ReadingOptions)[];

export const uncheckedBodyIn = ({
  uncheckedBodyField,
}: ReadingOptions): string => uncheckedBodyField ?? 'x-unchecked-body';

export const readingOptionsOf = (settings: ReadingOptions): ReadingOptions =>
  Object.fromEntries(KEYS.map((key) => [key, settings[key]]));

export const isSameReading = (
  one: ReadingOptions,
  other: ReadingOptions,
): boolean => KEYS.every((key) => one[key] === other[key]);
