import { expect, test } from '@jest/globals';
import { bodyChecker, responseChecker, taking } from './documents.ts';

type Json = Record<string, unknown>;

const BODIES: readonly (readonly [type: string, body: string])[] = [
  ['application/x-www-form-urlencoded', 'other=a'],
  [
    'multipart/form-data; boundary=b',
    '--b\r\nContent-Disposition: form-data; name="other"\r\n\r\na\r\n--b--\r\n',
  ],
  ['application/xml', '<root><other>a</other></root>'],
];

const list = { type: 'array', items: { type: 'string' } };
const schemaOf = (names: Json) => ({
  type: 'object',
  required: ['names'],
  properties: { names, other: { type: 'string' } },
  xml: { name: 'root' },
});
const atLeastOne = ['/names must have at least 1 entry'];

test.each(BODIES)('a required list that is absent is empty in %s', (contentType, body) => {
  const type = contentType.split(';')[0]!;
  for (const reading of [{}, { readOnly: 'refuse' as const }]) {
    const faults = (names: Json) =>
      bodyChecker(taking({ [type]: { schema: schemaOf(names) } }, { reading }), contentType)(body);
    expect(faults(list)).toEqual([]);
    expect(faults({ ...list, minItems: 1 })).toEqual(atLeastOne);
    expect(faults({ allOf: [list, { minItems: 1 }] })).toEqual(atLeastOne);
    expect(faults({ ...list, minItems: 1, writeOnly: true })).toEqual(atLeastOne);
    // For responses only.
    expect(faults({ ...list, minItems: 1, readOnly: true })).toEqual([]);
    expect(faults({ type: 'string' })).toEqual(['/names is required']);
  }
  const inResponse = (names: Json) => responseChecker(schemaOf(names), {}, contentType)(body);
  expect(inResponse({ ...list, readOnly: true })).toEqual([]);
  expect(inResponse({ ...list, minItems: 1, readOnly: true })).toEqual(atLeastOne);
  expect(inResponse({ ...list, minItems: 1, writeOnly: true })).toEqual([]);
});
