/** The treatment of query parameters that an operation does not describe. */
export type UnknownQuery = 'refuse' | 'pass';

/** How a document is read. The default is the first value. */
export interface ReadingOptions {
  readonly unknownQuery?: UnknownQuery | undefined;
  /** `off`: responses are not checked, so mistakes in their descriptions and in unused parts are notes. */
  readonly responses?: 'enforce' | 'report' | 'off' | undefined;
  /** The treatment of operations with a mistake in the document; `refuse` refuses the whole document. */
  readonly onUnsupported?: 'refuse' | Treatment | undefined;
  /** Whether request paths begin with the path of a server of the document; `auto`: if all servers have the same. */
  readonly serverPath?: 'auto' | 'ignore' | 'prefix' | undefined;
  /** The meaning of `%2C` in a comma-separated list: a part of an entry, or a comma. */
  readonly encodedCommas?: 'data' | 'separators' | undefined;
  /** The accepted integers in bodies and parameters: `plain` digits, or also `1.0` and `1e2`. */
  readonly integers?: 'plain' | 'any' | undefined;
  /** Whether valid `readOnly` members of requests pass. They are never required. */
  readonly readOnly?: 'pass' | 'refuse' | undefined;
  readonly maxDepth?: number | undefined;
}

/**
 * The treatment of an operation with a mistake. `omit`: it does not exist. `report`: its requests are checked as far as
 * possible, and faults are only reported. `pass`: its requests are forwarded unchecked.
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
