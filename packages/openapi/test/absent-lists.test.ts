import { expect, test } from '@jest/globals';
import type { Reading } from '../src/index.ts';
import { done, load, only, short } from './documents.ts';

type Json = Record<string, unknown>;

const FORM = 'application/x-www-form-urlencoded';
const BODIES: Readonly<Record<string, string>> = {
  [FORM]: 'other=a',
  'multipart/form-data; boundary=b':
    '--b\r\nContent-Disposition: form-data; name="other"\r\n\r\na\r\n--b--\r\n',
  'application/xml': '<root><other>a</other></root>',
};

const list = { type: 'array', items: { type: 'string' } };
const schemaOf = (names: Json) => ({
  type: 'object',
  required: ['names'],
  properties: { names, other: { type: 'string' } },
  xml: { name: 'root' },
});

const typeOf = (contentType: string) => contentType.split(';')[0]!;

function faultsOf(contentType: string, names: Json, reading: Reading): string[] {
  const content = { [typeOf(contentType)]: { schema: schemaOf(names) } };
  const post = { requestBody: { content }, responses: done };
  const operation = only(load({ '/': { post } }, {}, reading));
  return short(operation.body!.media(contentType)!.check(Buffer.from(BODIES[contentType]!)));
}

function responseFaultsOf(contentType: string, names: Json): string[] {
  const content = { [typeOf(contentType)]: { schema: schemaOf(names) } };
  const get = { responses: { 200: { description: 'Done.', content } } };
  const operation = only(load({ '/': { get } }));
  return short(operation.checkResponse(200, contentType, Buffer.from(BODIES[contentType]!)));
}

const atLeastOne = ['/names must have at least 1 entry'];

test.each(Object.keys(BODIES))('a required list that is absent is empty in %s', (contentType) => {
  for (const reading of [{}, { readOnly: 'refuse' as const }]) {
    const faults = (names: Json) => faultsOf(contentType, names, reading);
    expect(faults(list)).toEqual([]);
    expect(faults({ ...list, minItems: 1 })).toEqual(atLeastOne);
    expect(faults({ allOf: [list, { minItems: 1 }] })).toEqual(atLeastOne);
    expect(faults({ ...list, minItems: 1, writeOnly: true })).toEqual(atLeastOne);
    // For responses only.
    expect(faults({ ...list, minItems: 1, readOnly: true })).toEqual([]);
    expect(faults({ type: 'string' })).toEqual(['/names is required']);
  }
  const inResponse = (names: Json) => responseFaultsOf(contentType, names);
  expect(inResponse({ ...list, readOnly: true })).toEqual([]);
  expect(inResponse({ ...list, minItems: 1, readOnly: true })).toEqual(atLeastOne);
  expect(inResponse({ ...list, minItems: 1, writeOnly: true })).toEqual([]);
});
