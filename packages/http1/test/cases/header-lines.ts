import { accepted, faulty, head, malformed, NEXT, type WireCase } from './case.ts';

const LINE = 'GET / HTTP/1.1';
const NEXT_UNDERSTOOD = 'GET /next |';
const good = (what: string, ...lines: readonly string[]) =>
  accepted(what, head(LINE, 'Host: a', ...lines) + NEXT, 'GET / |', NEXT_UNDERSTOOD);
const bad = (what: string, ...lines: readonly string[]) =>
  malformed(what, head(LINE, 'Host: a', ...lines) + NEXT);
const hosted = (what: string, line: string) =>
  accepted(what, head(LINE, line) + NEXT, 'GET / |', NEXT_UNDERSTOOD);
/** Nothing behind it is read. */
const closing = (what: string, ...lines: readonly string[]) =>
  accepted(what, head(LINE, 'Host: a', ...lines) + NEXT, 'GET / |');
const begun = (what: string, before: string) =>
  malformed(`${what} before a head`, before + head(LINE, 'Host: a'));
const host = (what: string, ...lines: readonly string[]) =>
  malformed(what, head(LINE, ...lines) + NEXT);

const hex = (code: number) => `0x${code.toString(16)}`;
const CONTROLS = [0, 1, 7, 8, 0x0b, 0x0c, 0x0e, 0x1b, 0x1f, 0x7f];
const NO_NAME = [
  ...CONTROLS,
  0x09,
  0x20,
  ...[...'"(),/;<=>?@[\\]{}'].map((one) => one.charCodeAt(0)),
  0x80,
  0xa0,
  0xff,
];

export const HEADER_LINES: readonly WireCase[] = [
  good('an empty value', 'X:'),
  good('a value of spaces', 'X: \t \t '),
  good('no space behind the colon', 'X:y'),
  good('tabs around and inside a value', 'X:\ty\tz\t'),
  good('every sign that a name may have', "!#$%&'*+-.^_`|~09AZaz: y"),
  good('colons in a value', 'X:::y:'),
  good('bytes above ASCII in a value', 'X: caf\xe9 \xff\x80'),
  good('the same name twice', 'X: y', 'x: z'),
  good('a name that begins like Content-Length', 'Content-Length-X: 5'),
  good('Content_Length, which is another name', 'Content_Length: 5'),
  good('Transfer_Encoding, which is another name', 'Transfer_Encoding: chunked'),

  ...CONTROLS.map((code) => bad(`${hex(code)} in a value`, `X: y${String.fromCharCode(code)}z`)),
  ...NO_NAME.map((code) => bad(`${hex(code)} in a name`, `X${String.fromCharCode(code)}Y: z`)),
  bad('an empty name', ': y'),
  bad('no colon', 'nonsense'),
  bad('no colon in the last line', 'X: y', 'nonsense'),
  bad('a space before the colon', 'X : y'),
  bad('a tab before the colon', 'X\t: y'),
  bad('a space before the name', ' X: y'),
  bad('a folded value', 'X: y', ' z'),
  bad('a value folded by a tab', 'X: y', '\tz'),
  bad('a folded name', 'X', ' : y'),
  bad('a line of spaces', '  ', 'X: y'),
  malformed('a space before the first name', head(LINE, ' Host: a') + NEXT),
  malformed('a line of one space before the first name', head(LINE, ' ', 'Host: a') + NEXT),
  bad('a bare CR in a value', 'X: y\rz'),
  bad('a bare CR before another name', 'X: y\rTransfer-Encoding: chunked'),
  bad('a bare CR before a request', '\rZGET /evil: HTTP/1.1', 'Host: a'),
  bad('a bare CR behind a colon', 'X:\rTransfer-Encoding: chunked'),
  bad('a bare CR in a name', 'Content\rLength: 5'),
  bad('two CRs before the LF', 'X: y\r'),
  bad('a bare LF in a value', 'X: y\nz'),
  bad('a bare LF before another name', 'X: y\nContent-Length: 23'),
  bad('a bare LF behind a colon', 'X:\nTransfer-Encoding: chunked'),
  malformed('bare LFs alone', `${LINE}\nHost: a\n\n`),
  malformed('a bare LF behind the request line', `${LINE}\nHost: a\r\n\r\n${NEXT}`),
  malformed('a bare CR behind the request line', `${LINE}\rHost: a\r\n\r\n${NEXT}`),
  malformed('a bare LF for the empty line', `${LINE}\r\nHost: a\r\n\n${NEXT}`),
  malformed('a bare CR for the empty line', `${LINE}\r\nHost: a\r\n\r${NEXT}`),
  malformed('LF CR for line ends', `${LINE}\n\rHost: a\n\r\n\r${NEXT}`),

  hosted('a name and a port in Host', 'Host: a.example:8080'),
  hosted('an address in Host', 'hOST:\t127.0.0.1 '),
  hosted('an IPv6 address in Host', 'Host: [::1]:80'),
  hosted('an empty port in Host', 'Host: a:'),
  host('no Host'),
  host('two Hosts', 'Host: a', 'Host: b'),
  host('the same Host twice', 'Host: a', 'Host: a'),
  host('the same Host twice, spelt differently', 'Host: a', 'hOsT: a'),
  ...[
    '',
    'a b',
    'a, a',
    'a/b',
    'a?b',
    'a#b',
    'a@b',
    'user:word@a',
    'http://a',
    'a:b',
    'a:80:80',
    'a:123456',
    'a:-1',
    ':80',
    '[::1',
    '::1',
    '[::1]a',
    '[]',
    '[::1%25eth0]',
    'a\\b',
    'a"b',
    'a<b',
    'caf\xe9',
  ].map((value) => host(`Host: ${value}`, `Host: ${value}`)),

  accepted(
    'HTTP/1.0 without Host, and nothing behind it',
    head('GET / HTTP/1.0') + NEXT,
    'GET / |',
  ),
  accepted(
    'HTTP/1.0 that persists',
    head('GET / HTTP/1.0', 'Connection: keep-alive') + NEXT,
    'GET / |',
    NEXT_UNDERSTOOD,
  ),
  accepted(
    'a URL in HTTP/1.0 without Host',
    head('GET http://b/ HTTP/1.0') + NEXT,
    'GET http://b/ |',
  ),
  malformed('HTTP/1.0 with two Hosts', head('GET / HTTP/1.0', 'Host: a', 'Host: a') + NEXT),
  ...[
    'close',
    'Close',
    'CLOSE\t',
    '\tclose',
    'close, keep-alive',
    'keep-alive,close',
    'x ,\tclose , y',
    ',,close',
  ].map((value) => closing(`Connection: ${value}`, `Connection: ${value}`)),
  closing('close in the first of two Connections', 'Connection: close', 'connection: x'),
  closing('close in the second Connection', 'Connection: x', 'connection: close'),
  ...['keep-alive', 'closed', 'x-close', '"close"', 'close;a', 'clo se', '\xa0close', ''].map(
    (value) => good(`Connection: ${value}`, `Connection: ${value}`),
  ),
  accepted(
    'HTTP/1.0 with a no-break space before keep-alive',
    head('GET / HTTP/1.0', 'Connection: \xa0keep-alive') + NEXT,
    'GET / |',
  ),

  accepted(
    'one empty line before a head',
    `\r\n${head(LINE, 'Host: a')}\r\n${NEXT}`,
    'GET / |',
    NEXT_UNDERSTOOD,
  ),
  begun('two empty lines', '\r\n\r\n'),
  begun('a bare LF', '\n'),
  begun('a letter and a bare LF', 'G\n'),
  begun('a bare CR', '\r'),
  begun('an empty line and a bare LF', '\r\n\n'),
  begun('an empty line that ends in two CRs', '\r\r\n'),
  begun('a space', ' '),
  begun('NUL', '\0'),
  begun('a byte order mark', '\xef\xbb\xbf'),
  faulty(
    'two empty lines behind a message',
    'malformed',
    `${head(LINE, 'Host: a')}\r\n\r\n${NEXT}`,
    'GET / |',
  ),
];
