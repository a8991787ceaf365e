/**
 * The rules that a fault can break, for programs: keywords of JSON Schema as the contract writes them, and words of our own. A
 * rule never changes its meaning. The texts go into the documentation; `limit` says what a fault of this rule has there.
 */
export const RULES = {
  required: { title: 'It must be there.' },
  type: { title: 'It has another type.', limit: 'the type, or a list of types' },
  format: { title: 'It does not have the format.', limit: 'the format' },
  enum: { title: 'It is none of the values that are allowed.', limit: 'the values, if there are few' },
  const: { title: 'It is not the value that is allowed.', limit: 'the value, if it is short' },
  pattern: { title: 'It does not match the pattern.', limit: 'the pattern' },
  minimum: { title: 'It is too small.', limit: 'the smallest value' },
  maximum: { title: 'It is too large.', limit: 'the largest value' },
  exclusiveMinimum: { title: 'It is too small.', limit: 'the value that it must be above' },
  exclusiveMaximum: { title: 'It is too large.', limit: 'the value that it must be below' },
  multipleOf: { title: 'It is no multiple.', limit: 'of what' },
  minLength: { title: 'It is too short.', limit: 'the fewest characters, or bytes of a file' },
  maxLength: { title: 'It is too long.', limit: 'the most characters, or bytes of a file' },
  minItems: { title: 'It has too few entries.', limit: 'the fewest' },
  maxItems: { title: 'It has too many entries.', limit: 'the most' },
  uniqueItems: { title: 'It has an entry twice.' },
  items: { title: 'The list has more entries than the contract describes.' },
  unevaluatedItems: { title: 'The contract has no such entry, in none of the forms that the list fits.' },
  contains: { title: 'It has no entry of the kind that it must have.' },
  minContains: { title: 'It has too few entries of a kind.', limit: 'the fewest' },
  maxContains: { title: 'It has too many entries of a kind.', limit: 'the most' },
  minProperties: { title: 'It has too few members.', limit: 'the fewest' },
  maxProperties: { title: 'It has too many members.', limit: 'the most' },
  additionalProperties: { title: 'The contract has no such member.' },
  unevaluatedProperties: { title: 'The contract has no such member, in none of the forms that the value fits.' },
  propertyNames: { title: 'The name of the member does not fit.' },
  dependentRequired: { title: 'It must be there because another member is.', limit: 'the other member' },
  readOnly: { title: 'It is for answers only.' },
  writeOnly: { title: 'It is for requests only.' },
  oneOf: { title: 'It fits none, or more than one, of the described forms.' },
  anyOf: { title: 'It fits none of the described forms.' },
  not: { title: 'It fits the form that is ruled out.' },
  unknown: { title: 'The operation has no such parameter.' },
  repeated: { title: 'It is there more than once.' },
  style: {
    title: 'It is not written in the style of the parameter, or not as the contract describes the XML.',
    limit: 'an example of the style, for a parameter',
  },
  encoding: { title: 'It is not UTF-8, or not valid percent-encoding.' },
  syntax: { title: 'It is not valid JSON, XML or multipart.' },
  depth: { title: 'It is nested too deep.', limit: 'the most levels' },
  precision: { title: 'The number is too large or too precise to be read exactly.' },
  complexity: { title: 'It would take too much work to check.' },
  unexpected: { title: 'There must be no body.' },
  mediaType: {
    title: 'The body, or a part of a form, has another media type or a Content-Encoding.',
    limit: 'the media types that the contract has',
  },
  headers: { title: 'The headers of a part of a form do not fit, its filename among them.' },
  size: { title: 'The body is too large to check.', limit: 'the most bytes' },
  status: { title: 'The contract has no such status (only of answers).' },
  unfit: { title: 'It cannot be used, as the message says (only at the admin API).' },
  more: { title: 'Not a fault: there may be more than are told.' },
} as const satisfies Record<string, { title: string; limit?: string }>;

export type Rule = keyof typeof RULES;

/** What the contract asks for. A number that a double cannot hold exactly is a text of its digits. */
export type Limit = number | string | boolean | null | readonly Limit[];

/** One thing that is wrong with a request or an answer. It names what the contract says, never a value that was sent. */
export interface Fault {
  readonly in: 'path' | 'query' | 'header' | 'cookie' | 'body';
  /** JSON pointer (RFC 6901); for a parameter `/<name>` and deeper. */
  readonly pointer: string;
  readonly message: string;
  readonly rule: Rule;
  readonly limit?: Limit;
}

/** A number of the contract as a limit. */
export const limitOf = (value: number | bigint): number | string =>
  typeof value === 'bigint' && !Number.isSafeInteger(Number(value)) ? String(value) : Number(value);
