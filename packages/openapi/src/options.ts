/** What to do with query parameters that an operation does not describe. */
export type UnknownQuery = 'refuse' | 'pass';

/** How a document is read. What is left out is the first of its values. */
export interface ReadingOptions {
  /** What to do with query parameters that an operation does not describe. */
  readonly unknownQuery?: UnknownQuery | undefined;
  /** `off`: answers are not checked, so mistakes in what describes them, and in what nothing uses, are notes. */
  readonly responses?: 'enforce' | 'report' | 'off' | undefined;
  /** What becomes of operations with a mistake in the document; `refuse`: the whole document is refused. */
  readonly onUnsupported?: 'refuse' | Treatment | undefined;
  /** `prefix`: the paths of requests begin with that of a server of the document. */
  readonly serverPath?: 'ignore' | 'prefix' | undefined;
  /** What `%2C` is in a list that commas separate: a part of an entry, or a comma. */
  readonly encodedCommas?: 'data' | 'separators' | undefined;
  /** What an integer is: `plain` digits, or `1.0` and `1e2` too; in bodies and parameters alike. */
  readonly integers?: 'plain' | 'any' | undefined;
  /** Whether members of requests that are `readOnly` pass, if they fit their schemas. They are never required. */
  readonly readOnly?: 'pass' | 'refuse' | undefined;
  /** The deepest nesting of JSON. */
  readonly maxDepth?: number | undefined;
}

/**
 * How an operation with a mistake is treated. `omit`: it does not exist. `report`: its requests are checked as far as that goes,
 * and faults are only reported. `pass`: its requests are forwarded unchecked.
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

/** These settings alone, of an object that may have others. */
export const readingOptionsOf = (settings: ReadingOptions): ReadingOptions =>
  Object.fromEntries(READING.map((key) => [key, settings[key]]));

/** Whether a document read in one way is the same as read in the other. */
export const isSameReading = (one: ReadingOptions, other: ReadingOptions): boolean =>
  READING.every((key) => one[key] === other[key]);
