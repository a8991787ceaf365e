export const EXCEPTIONS: readonly { readonly reason: string; readonly cases: readonly string[] }[] = [
  {
    reason: 'A gateway enforces the formats that it knows; the suite takes them for annotations.',
    cases: ['date', 'date-time', 'email', 'hostname', 'ipv4', 'ipv6', 'time', 'uri', 'uuid'].map(
      (format) => `format: ${format} format: invalid ${format} string is only an annotation by default`,
    ),
  },
  {
    reason: 'Nothing is read from the network, and so the meta-schema of JSON Schema is not there to refer to.',
    cases: [
      'defs: validate definition against metaschema: invalid definition schema',
      'defs: validate definition against metaschema: valid definition schema',
      'ref: remote ref, containing refs itself: remote ref invalid',
      'ref: remote ref, containing refs itself: remote ref valid',
    ],
  },
  {
    reason: 'A property __proto__ is refused in a contract: readers in JavaScript take it for something else.',
    cases: [
      '__proto__ not valid',
      'all present and valid',
      'constructor not valid',
      'ignores arrays',
      'ignores other non-objects',
      'none of the properties mentioned',
      'toString not valid',
    ].map((name) => `properties: properties whose names are Javascript object property names: ${name}`),
  },
  {
    reason: 'Another language of schemas ($schema) is a reported mistake of the document.',
    cases: [
      'vocabulary: ignore unrecognized optional vocabulary: number value',
      'vocabulary: ignore unrecognized optional vocabulary: string value',
      ...[
        'applicator vocabulary still works',
        'no validation: invalid number, but it still validates',
        'no validation: valid number',
      ].map((name) => `vocabulary: schema that uses custom metaschema with with no validation vocabulary: ${name}`),
    ],
  },
];
