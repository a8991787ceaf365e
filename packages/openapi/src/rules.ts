/** The meaning of a rule never changes. The texts appear in the documentation. */
export const RULES = {
  required: { title: 'Required field is missing.' },
  type: {
    title: 'Value has the wrong type.',
    limit: 'the type, or a list of types',
  },
  format: { title: 'Value does not have the format.', limit: 'the format' },
  enum: {
    title: 'Value is not in the allowed list.',
    limit: 'the values, if there are few',
  },
  const: {
    title: 'Value is not the allowed value.',
    limit: 'the value, if it is short',
  },
  pattern: { title: 'Value does not match the pattern.', limit: 'the pattern' },
  minimum: { title: 'Value is too small.', limit: 'the smallest value' },
  maximum: { title: 'Value is too large.', limit: 'the largest value' },
  exclusiveMinimum: {
    title: 'Value is too small.',
    limit: 'the value that it must be above',
  },
  exclusiveMaximum: {
    title: 'Value is too large.',
    limit: 'the value that it must be below',
  },
  multipleOf: {
    title: 'Value is not a multiple of the limit.',
    limit: 'the number',
  },
  minLength: {
    title: 'Value is too short.',
    limit: 'the fewest characters, or bytes of a file',
  },
  maxLength: {
    title: 'Value is too long.',
    limit: 'the most characters, or bytes of a file',
  },
  minItems: { title: 'List has too few entries.', limit: 'the fewest' },
  maxItems: { title: 'List has too many entries.', limit: 'the most' },
  uniqueItems: { title: 'List has duplicate entries.' },
  items: { title: 'List has more entries than the contract defines.' },
  unevaluatedItems: {
    title: 'Entry is not defined in any schema that the list matches.',
  },
  contains: { title: 'List lacks an entry that matches the required schema.' },
  minContains: {
    title: 'List has too few entries that match a schema.',
    limit: 'the fewest',
  },
  maxContains: {
    title: 'List has too many entries that match a schema.',
    limit: 'the most',
  },
  minProperties: { title: 'Object has too few members.', limit: 'the fewest' },
  maxProperties: { title: 'Object has too many members.', limit: 'the most' },
  additionalProperties: { title: 'Member is not defined in the contract.' },
  unevaluatedProperties: {
    title: 'Member is not defined in any schema that the value matches.',
  },
  propertyNames: { title: 'Name of a member is not allowed.' },
  dependentRequired: {
    title: 'Member is required because of another member.',
    limit: 'the other member',
  },
  readOnly: { title: 'Member is allowed in responses only.' },
  writeOnly: { title: 'Member is allowed in requests only.' },
  oneOf: { title: 'Value must match exactly one schema.' },
  anyOf: { title: 'Value must match at least one schema.' },
  not: { title: 'Value matches a schema that is not allowed.' },
  unknown: { title: 'Parameter is not defined for the operation.' },
  repeated: {
    title:
      'Parameter, form field, part, element or JSON name appears more than once.',
  },
  style: {
    title:
      'Value is not in the style of the parameter, or the XML differs from the contract.',
    limit: 'an example of the style, for a parameter',
  },
  encoding: { title: 'Text is not valid UTF-8 or percent-encoding.' },
  syntax: { title: 'Text is not valid JSON, XML or multipart.' },
  depth: { title: 'Value is nested too deeply.', limit: 'the most levels' },
  precision: {
    title: 'Number is too large or too precise to be read exactly.',
  },
  complexity: { title: 'Value would take too much work to check.' },
  unexpected: { title: 'Request body is not allowed.' },
  mediaType: {
    title:
      'Media type or Content-Encoding of the body or a part is not allowed.',
    limit: 'the media types that the contract has',
  },
  headers: {
    title: 'Headers of a multipart part are not valid, or its filename.',
  },
  size: { title: 'Body is too large to check.', limit: 'the most bytes' },
  status: { title: 'Status is not defined in the contract (responses only).' },
  unfit: { title: 'Value is not valid: see the message (admin API only).' },
  more: { title: 'More faults may exist; this entry is not a fault.' },
} as const satisfies Record<string, { title: string; limit?: string }>;

export type Rule = keyof typeof RULES;
