/** The default is the first value. */
export interface ReadingOptions {
  readonly unknownQuery?: 'refuse' | 'pass' | undefined;
  /** `off`: mistakes in responses and in unused parts are notes. */
  readonly responses?: 'enforce' | 'report' | 'off' | undefined;
  readonly onUnsupported?: 'refuse' | Treatment | undefined;
  /** Whether request paths begin with the path of a server of the document; `auto`: if all servers have the same. */
  readonly serverPath?: 'auto' | 'ignore' | 'prefix' | undefined;
  /** The meaning of `%2C` in a comma-separated list: a part of an entry, or a comma. */
  readonly encodedCommas?: 'data' | 'separators' | undefined;
  /** `plain` digits, or also `1.0` and `1e2`. */
  readonly integers?: 'plain' | 'any' | undefined;
  /** For valid `readOnly` members of requests, which are never required. */
  readonly readOnly?: 'pass' | 'refuse' | undefined;
  readonly maxDepth?: number | undefined;
}

/**
 * `omit`: the operation does not exist. `report`: faults are only reported. `pass`: requests are forwarded unchecked.
 */
export type Treatment = 'omit' | 'report' | 'pass';

const READING = [
  'unknownQuery',
  'responses',
  'onUnsupported',
  'serverPath',
  'encodedCommas',
  'integers',
  'readOnly',
  'maxDepth',
] as const satisfies readonly (keyof ReadingOptions)[];

export const readingOptionsOf = (settings: ReadingOptions): ReadingOptions =>
  Object.fromEntries(READING.map((key) => [key, settings[key]]));

export const isSameReading = (one: ReadingOptions, other: ReadingOptions): boolean =>
  READING.every((key) => one[key] === other[key]);
