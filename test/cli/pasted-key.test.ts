import { expect, test } from '@jest/globals';
import { pastedKeys } from '../../src/cli/pasted-key.ts';
import { makeSecret } from '../../src/records/keys/secret.ts';

const OWN = makeSecret('live');
const OTHER = makeSecret('live');
const WHOLE = 'the whole text';

test.each([
  [OWN, WHOLE],
  [`api_key=${OWN}`, 'the key in the text'],
  [`curl -H 'X-API-Key: ${OWN}' https://api.example/`, 'the key in the text'],
  [`{"error":"bad key ${OWN}"}`, 'the key in the text'],
])('a key of this gateway is found in %j', (text, what) => {
  expect(pastedKeys(text)).toEqual([{ key: OWN, what }]);
});

test('of several keys of this gateway each is meant', () => {
  expect(pastedKeys(`${OWN}\n${OTHER}\n${OWN}\n`)).toEqual([
    { key: OWN, what: 'key 1 of 2 in the text' },
    { key: OTHER, what: 'key 2 of 2 in the text' },
  ]);
});

test.each([
  ['a1b2', 'a1b2', WHOLE],
  ['  a1b2\n', 'a1b2', WHOLE],
  ['api_key=a1b2', 'a1b2', 'the value of api_key'],
  ['api_key = "a1b2"', 'a1b2', 'the value of api_key'],
  ["export API_KEY='a1b2'", 'a1b2', 'the value of API_KEY'],
  ['X-API-Key: a1b2', 'a1b2', 'the value of X-API-Key'],
  ['Bearer a1b2', 'a1b2', WHOLE],
  ['"a1b2",', 'a1b2', WHOLE],
  ['https://api.example/?api_key=%ZZ', '%ZZ', 'the value of api_key'],
  ['https://api.example/pets?limit=3&api_key=a%201&x=y', 'a 1', 'the value of api_key'],
  ['{"account":"acme","apiKey":"a1b2"}', 'a1b2', 'the value of apiKey'],
  ['{"request":{"headers":{"x-api-key":"a1b2"}}}', 'a1b2', 'the value of x-api-key'],
])('of %j the key is read', (text, key, what) => {
  expect(pastedKeys(text)[0]).toEqual({ key, what });
});

test('a text that only looks like something else is meant too', () => {
  expect(pastedKeys('team=a1b2').map(({ key }) => key)).toEqual(['a1b2', 'team=a1b2']);
  expect(pastedKeys('YWJjZA==').map(({ key }) => key)).toEqual(['YWJjZA==']);
  expect(pastedKeys('{broken').map(({ key }) => key)).toEqual(['{broken']);
  expect(pastedKeys(' \n')).toEqual([]);
  expect(pastedKeys('x'.repeat(513))).toEqual([]);
});

test.each([
  ['quotes', '"'.repeat(40_001)],
  ['lists', `${'['.repeat(20_000)}"x"${']'.repeat(20_000)}`],
  ['schemes', `${'Bearer '.repeat(20_000)}x`],
])('%s inside of each other are not read as a key', (_what, text) => {
  expect(pastedKeys(text)).toEqual([]);
});
