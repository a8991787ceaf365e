import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express, { type NextFunction, type Request, type Response } from 'express';
import * as OpenApiValidator from 'express-openapi-validator';
import { Fixture } from './fixture.ts';
import { Wire } from './wire.ts';

const root = resolve(import.meta.dirname, '../..');
let fixture: Fixture;
let other: Server;
beforeAll(async () => {
  fixture = await Fixture.start();
  const app = express();
  app.use(express.json({ limit: '1mb' }));
  app.use(
    OpenApiValidator.middleware({
      apiSpec: join(root, 'config/openapi.yaml'),
      validateSecurity: false,
    }),
  );
  app.use((_request: Request, response: Response) => void response.json([]));
  app.use(
    (error: { status?: number }, _request: Request, response: Response, _next: NextFunction) => {
      response.status(error.status ?? 500).json({});
    },
  );
  other = createServer(app);
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
});
afterAll(async () => {
  await fixture.stop();
  other.close();
  other.closeAllConnections();
});

interface Case {
  readonly name: string;
  readonly line: string;
  readonly body?: string;
  readonly type?: string;
}

const pet = (name: string, body: string, type = 'application/json'): Case => ({
  name,
  line: 'POST /pets',
  body,
  type,
});
const order = (name: string, body: string): Case => ({
  name,
  line: 'POST /store/orders',
  body,
  type: 'application/json',
});
const get = (name: string, target: string): Case => ({ name, line: `GET ${target}` });

const CASES: readonly Case[] = [
  pet('a good body', '{"name":"a","categoryId":1}'),
  pet('a good body with every member', '{"name":"a","categoryId":1,"status":"sold"}'),
  pet('an undocumented member', '{"name":"a","categoryId":1,"more":true}'),
  pet('a required member missing', '{"name":"a"}'),
  pet('a member of another type', '{"name":7,"categoryId":1}'),
  pet('a number as text', '{"name":"a","categoryId":"1"}'),
  pet('an integer with a zero fraction', '{"name":"a","categoryId":1.0}'),
  pet('an integer with an exponent', '{"name":"a","categoryId":1e2}'),
  pet('a fraction for an integer', '{"name":"a","categoryId":1.5}'),
  pet('the largest int64', '{"name":"a","categoryId":9223372036854775807}'),
  pet('an int64 one too large', '{"name":"a","categoryId":9223372036854775808}'),
  pet('an int64 far too large', '{"name":"a","categoryId":92233720368547758080}'),
  pet('a value outside its enumeration', '{"name":"a","categoryId":1,"status":"lost"}'),
  pet('null where none is allowed', '{"name":null,"categoryId":1}'),
  pet('a text too short', '{"name":"","categoryId":1}'),
  pet('a text too long', `{"name":"${'a'.repeat(101)}","categoryId":1}`),
  pet(
    'a text of a hundred characters outside the BMP',
    `{"name":"${'🐈'.repeat(100)}","categoryId":1}`,
  ),
  pet('a name twice', '{"name":"a","categoryId":1,"name":"b"}'),
  pet('a name twice, the last one wrong', '{"name":"a","categoryId":1,"name":7}'),
  pet('__proto__ as a member', '{"name":"a","categoryId":1,"__proto__":{"status":"x"}}'),
  pet('required members in __proto__ only', '{"__proto__":{"name":"a","categoryId":1}}'),
  pet('a byte order mark', '\ufeff{"name":"a","categoryId":1}'),
  pet('half a surrogate pair', '{"name":"\\ud800","categoryId":1}'),
  pet('an array for an object', '[]'),
  pet('null for an object', 'null'),
  pet('a text for an object', '"a"'),
  pet('a body that is not JSON', '{"name":'),
  pet('a body of blanks', '  '),
  pet('no body', ''),
  pet('a body of another type', '{"name":"a","categoryId":1}', 'text/plain'),
  pet('JSON in UTF-8, said so', '{"name":"a","categoryId":1}', 'application/json; charset=utf-8'),
  pet('JSON in latin1, said so', '{"name":"a","categoryId":1}', 'application/json; charset=latin1'),
  pet(
    'a media type that begins alike',
    '{"name":"a","categoryId":1}',
    'application/json-patch+json',
  ),
  order('an empty object with nothing required', '{}'),
  order('a date and time', '{"shipDate":"2026-02-28T12:00:00Z"}'),
  order('30 February', '{"shipDate":"2026-02-30T12:00:00Z"}'),
  order('a date without a time', '{"shipDate":"2026-02-28"}'),
  order('a date and time without a zone', '{"shipDate":"2026-02-28T12:00:00"}'),
  order('a date and time with a space', '{"shipDate":"2026-02-28 12:00:00Z"}'),
  order('a leap second', '{"shipDate":"2016-12-31T23:59:60Z"}'),
  order('truth as text', '{"complete":"true"}'),
  order('a number below its limit', '{"quantity":0}'),
  get('a good query', '/pets?limit=5&status=sold'),
  get('a list in a query', '/pets?ids=1,2,3'),
  get('an empty list in a query', '/pets?ids='),
  get('a wrong entry in a list', '/pets?ids=1,x'),
  get('an undocumented query parameter', '/pets?colour=red'),
  get('a query parameter twice', '/pets?limit=5&limit=6'),
  get('a query parameter without a value', '/pets?limit'),
  get('a number with a leading zero', '/pets?limit=05'),
  get('a number with a plus', '/pets?limit=%2B5'),
  get('a number with an exponent', '/pets?limit=1e1'),
  get('a hexadecimal number', '/pets?limit=0x10'),
  get('a number with a blank', '/pets?limit=%205'),
  get('a number beyond its limit', '/pets?limit=101'),
  get('an invalid percent-encoding in a query', '/pets?cursor=%zz'),
  get('bytes that are not UTF-8 in a query', '/pets?cursor=%ff'),
  get('a good path', '/pets/1'),
  get('a text for a number in a path', '/pets/x'),
  get('an int64 one too large in a path', '/pets/9223372036854775808'),
  get('a path in capitals', '/PETS'),
  get('a slash behind a path', '/pets/'),
  get('a path with an encoded slash', '/pets%2f1'),
  get('a path with a dot segment', '/pets/../pets'),
  get('an undocumented path', '/nowhere'),
];

async function passes(url: string, { line, body, type }: Case): Promise<boolean> {
  const bytes = Buffer.from(body ?? '');
  const headers =
    body === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${bytes.length}`];
  const wire = await Wire.open(url);
  const { status } = await wire.send(fixture.request(line, headers)).send(bytes).answer();
  wire.close();
  return status < 400;
}

const REFUSED_HERE: Readonly<Record<string, string>> = {
  'a name twice': 'Parsers disagree about which of two equal names counts.',
  'a byte order mark': 'RFC 8259 forbids it.',
  'half a surrogate pair': '"\\ud800" is not a character.',
  'an int64 one too large': '9223372036854775808 is outside int64.',
  'an int64 far too large': 'The number is outside int64.',
  'an int64 one too large in a path': 'The number is outside int64.',
  '30 February': 'RFC 3339 has no such date.',
  'a number with a leading zero': 'JSON has no such number; some parsers read octal.',
  'a number with a plus': 'JSON has no such number; a plus in a query may be a space.',
  'an integer with a zero fraction': 'OpenAPI 3.0.3: an integer has no fraction.',
  'an integer with an exponent': 'OpenAPI 3.0.3: an integer has no exponent.',
  'a number with an exponent': '1e1 is not an integer to most parsers.',
  'a hexadecimal number': '0x10 is 16 to some parsers and 0 to others.',
  'a number with a blank': 'Some parsers trim, some fail.',
  'an invalid percent-encoding in a query': '%zz decodes to nothing.',
  'bytes that are not UTF-8 in a query': '%ff is not UTF-8.',
  'a path in capitals': 'Paths are case-sensitive.',
  'a slash behind a path': '/pets/ is not /pets.',
};

test('every disagreement with express-openapi-validator is explained, and every explained one exists', async () => {
  const disagreements: string[] = [];
  for (const one of CASES) {
    const [here, there] = [await passes(fixture.gateway.url, one), await passes(urlOf(other), one)];
    const word = (taken: boolean) => (taken ? 'taken' : 'refused');
    if (here !== there) disagreements.push(`${one.name}: ${word(here)} here, ${word(there)} there`);
  }
  expect(disagreements.sort()).toEqual(
    Object.keys(REFUSED_HERE)
      .map((name) => `${name}: refused here, taken there`)
      .sort(),
  );
  expect(disagreements.length).toBeLessThan(CASES.length / 2);
});

function urlOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
