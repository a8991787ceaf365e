import { accepted, CHUNKED, faulty, head, malformed, type WireCase } from './case.ts';

export interface AnswerWireCase extends WireCase {
  readonly method?: string;
  readonly ends?: boolean;
}

const OK = 'HTTP/1.1 200 OK';
const LENGTH = 'Content-Length: 5';
const EVIL = head('HTTP/1.1 201 Evil', 'Content-Length: 0');
const good = (what: string, bytes: string, ...understood: readonly string[]): AnswerWireCase =>
  accepted(what, bytes, ...understood);
const ended = (what: string, bytes: string, ...understood: readonly string[]): AnswerWireCase => ({
  ...good(what, bytes, ...understood),
  ends: true,
});
const cut = (what: string, bytes: string, ...understood: readonly string[]): AnswerWireCase => ({
  ...faulty(`${what}, and the end`, 'cut_off', bytes, ...understood),
  ends: true,
});
const toHead = (what: string, bytes: string): AnswerWireCase => ({
  ...good(`HEAD with ${what}`, bytes, '200 OK|'),
  method: 'HEAD',
});
const empty = (line: string) => head(line, 'Content-Length: 0');
const badChunks = (what: string, body: string) =>
  faulty(what, 'malformed', head(OK, CHUNKED) + body, '200 OK|…');
const line = (text: string) =>
  malformed(`the line ${JSON.stringify(text)}`, `${head(text, LENGTH)}hello`);
const bad = (what: string, ...lines: readonly string[]) =>
  malformed(what, `${head(OK, ...lines)}hello`);

export const ANSWERS: readonly AnswerWireCase[] = [
  good('a length', `${head(OK, LENGTH)}hello`, '200 OK|hello'),
  good('a length of zero', empty(OK), '200 OK|'),
  good('chunks', `${head(OK, CHUNKED)}5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n`, '200 OK|hello'),
  good('no reason and no space', empty('HTTP/1.1 301'), '301 |'),
  good('no reason', empty('HTTP/1.1 200 '), '200 |'),
  good('a reason above ASCII', empty('HTTP/1.1 500 Ori\xebn\tx'), '500 Ori\xebn\tx|'),
  good('a reason that begins with a space', empty('HTTP/1.1 200  OK'), '200  OK|'),
  good('HTTP/1.0', `${head('HTTP/1.0 200 OK', LENGTH)}hello`, '200 OK|hello'),
  good('half a body', `${head(OK, LENGTH)}hel`, '200 OK|hel…'),
  ended('the end of the connection as the end of a body', `${head(OK)}hello`, '200 OK|hello'),
  ended('the same with keep-alive', head(OK, 'Connection: keep-alive') + EVIL, `200 OK|${EVIL}`),
  ended(
    'the same in HTTP/1.0',
    `${head('HTTP/1.0 200 OK', 'Connection: keep-alive')}hello`,
    '200 OK|hello',
  ),
  ended('an empty body that ends so', head(OK), '200 OK|'),
  good('a body of unknown length that continues', `${head(OK)}hello`, '200 OK|hello…'),
  cut('half a body', `${head(OK, LENGTH)}hel`, '200 OK|hel…'),
  cut('half a chunk', `${head(OK, CHUNKED)}5\r\nhel`, '200 OK|hel…'),
  cut('chunks without the last', `${head(OK, CHUNKED)}5\r\nhello\r\n`, '200 OK|hello…'),
  cut('no empty line behind chunks', `${head(OK, CHUNKED)}0\r\n`, '200 OK|…'),
  cut('half a head', 'HTTP/1.1 200 OK\r\nX: y'),
  ended('nothing, and the end', ''),

  good(
    'interim answers',
    `${head('HTTP/1.1 100 Continue')}${head('HTTP/1.1 103 Early Hints', 'Link: <a>')}${head(OK, 'Content-Length: 0')}`,
    '100 Continue|',
    '103 Early Hints|',
    '200 OK|',
  ),
  good('an interim answer of no length', empty('HTTP/1.1 103 A') + empty(OK), '103 A|', '200 OK|'),
  malformed('an interim answer with a body', `${head('HTTP/1.1 103 A', LENGTH)}hello`),
  malformed('an interim answer with chunks', `${head('HTTP/1.1 100 A', CHUNKED)}0\r\n\r\n`),
  malformed(
    'another protocol with a length',
    `${head('HTTP/1.1 101 A', 'Connection: upgrade', 'Upgrade: h2c', LENGTH)}hello`,
  ),
  good(
    'another protocol',
    `${head('HTTP/1.1 101 A', 'Connection: upgrade', 'Upgrade: h2c')}\0\x01`,
    '101 A|',
  ),
  toHead('a length', head(OK, LENGTH) + EVIL),
  toHead('chunks', head(OK, CHUNKED)),
  toHead('no length', head(OK)),
  { ...malformed('HEAD with two lengths', head(OK, LENGTH, 'Content-Length: 6')), method: 'HEAD' },
  good('304 with a length', `${head('HTTP/1.1 304 A', LENGTH)}${EVIL}`, '304 A|'),
  good('304 with chunks', head('HTTP/1.1 304 A', CHUNKED), '304 A|'),
  good('204', head('HTTP/1.1 204 A'), '204 A|'),
  good('204 with a length, and what it claims', `${head('HTTP/1.1 204 A', LENGTH)}hello`, '204 A|'),
  good('205 with a length', `${head('HTTP/1.1 205 A', LENGTH)}hello`, '205 A|hello'),

  ...[
    '',
    'HTTP/1.1',
    'HTTP/1.1 ',
    'HTTP/1.1 OK',
    'HTTP/1.1 2 OK',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 2x0 OK',
    'HTTP/1.1 000 OK',
    'HTTP/1.1 099 OK',
    'HTTP/1.1 600 OK',
    'HTTP/1.1 999 OK',
    'HTTP/1.1 -200 OK',
    'HTTP/1.1 +200 OK',
    'HTTP/1.1  200 OK',
    'HTTP/1.1\t200 OK',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200OK',
    ' HTTP/1.1 200 OK',
    'HTTP/1.1 200 O\0K',
    'HTTP/1.1 200 O\x1bK',
    'HTTP/1.1 200 OK\r',
    'HTTP/1.1 200 OK\rX: y',
    'HTTP/1.1 200 OK\r\rContent-Length: 4',
    'HTTP/1.1 200 OK\nX: y',
    'HTTP/0.9 200 OK',
    'HTTP/1.2 200 OK',
    'HTTP/2.0 200 OK',
    'HTTP/2 200 OK',
    'HTTP/5.6 200 OK',
    'HTTP/01.1 200 OK',
    'HTTP/1.01 200 OK',
    'HTTP/11.1 200 OK',
    'HTTPER/1.1 200 OK',
    'HTP/1.1 200 OK',
    'http/1.1 200 OK',
    'ICE/1.1 200 OK',
    'RTSP/1.1 200 OK',
    'hello',
    'GET / HTTP/1.1',
    '<html>',
  ].map(line),
  malformed('bare LFs', `${OK}\nContent-Length: 5\n\nhello`),
  malformed('an empty line before it', `\r\n${head(OK, LENGTH)}hello`),
  bad('two lengths', LENGTH, 'Content-Length: 6'),
  bad('the same length twice', LENGTH, LENGTH),
  bad('a list of lengths', 'Content-Length: 5, 5'),
  bad('a length with a sign', 'Content-Length: +5'),
  bad('a length with a tab', 'Content-Length:\t5\t'),
  bad('a length and chunks', LENGTH, CHUNKED),
  bad('a length and another coding', LENGTH, 'Transfer-Encoding: identity'),
  bad('chunked twice', CHUNKED, CHUNKED),
  bad('an empty coding', 'Transfer-Encoding:'),
  bad('a space before a colon', 'X : y'),
  bad('a folded line', 'X: y', ' z'),
  bad('a space before the first name', ' X: y'),
  bad('spaces in a name', 'en-US Content-Type: text/xml', LENGTH),
  bad('NUL in a value', 'X: \0'),
  bad('a bare CR in a value', 'X: 1\rY: 2'),
  bad('no colon', 'nonsense'),
  malformed('chunks in HTTP/1.0', `${head('HTTP/1.0 200 OK', CHUNKED)}0\r\n\r\n`),
  ...['gzip', 'identity', 'chunked, gzip', 'gzip, chunked', 'chunkedchunked'].map((value) =>
    faulty(`Transfer-Encoding: ${value}`, 'coding', head(OK, `Transfer-Encoding: ${value}`)),
  ),
  badChunks('a space behind the size of a chunk', '5  \r\nhello\r\n0  \r\n\r\n'),
  badChunks('a size without a semicolon', '2 erfrf\r\naa\r\n0 rrrr\r\n\r\n'),
  badChunks('a trailer that only a header may be', `0\r\n${LENGTH}\r\n\r\n`),
];
