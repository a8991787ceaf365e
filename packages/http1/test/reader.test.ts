import { describe, expect, test } from '@jest/globals';
import { Chunks } from '../src/chunks.ts';
import { readFields } from '../src/fields.ts';
import { type RequestHead, RequestHeads, ResponseHeads } from '../src/heads.ts';
import { MessageReader } from '../src/reader.ts';
import { CHUNKED, head, NEXT } from './cases/case.ts';
import { MOST_HEAD_BYTES, readRequests } from './reading.ts';
import { bytewise, inHundreds, inTwo } from './splits.ts';
import { bytesTouched } from './touched.ts';

const POST = 'POST / HTTP/1.1';
const HOST = 'Host: a';
const chunked = (body: string) => head(POST, HOST, CHUNKED) + body;

function headOf(size: number, line = 'GET / HTTP/1.1'): string {
  const empty = head(line, HOST, 'X: ');
  return head(line, HOST, `X: ${'y'.repeat(size - empty.length)}`);
}

/** In one piece, and in each split into two: all must be equal. */
function outcomeOf(bytes: string, ends = false) {
  const summary = (pieces: readonly string[]) => {
    const { messages, fault } = readRequests(pieces, { ends });
    return { whole: messages.filter(({ whole }) => whole).length, fault };
  };
  const one = summary([bytes]);
  for (const pieces of [bytewise(bytes), ...inTwo(bytes)]) {
    const other = summary(pieces);
    if (other.whole !== one.whole || other.fault !== one.fault)
      expect({ pieces, ...other }).toEqual(one);
  }
  return one;
}

const GET = 'GET / HTTP/1.1';
const TOO_LARGE = 'head_too_large';
const long = 'a'.repeat(3_000);

test.each<[what: string, bytes: string, whole: number, fault: string | null]>([
  ['as long as the limit', headOf(MOST_HEAD_BYTES), 1, null],
  ['a byte longer', headOf(MOST_HEAD_BYTES + 1), 0, TOO_LARGE],
  ['behind an empty line', `\r\n${headOf(MOST_HEAD_BYTES)}`, 1, null],
  ['a byte longer behind an empty line', `\r\n${headOf(MOST_HEAD_BYTES + 1)}`, 0, TOO_LARGE],
  ['behind another request', `${NEXT}\r\n${headOf(MOST_HEAD_BYTES)}`, 2, null],
  ['a byte longer behind another request', NEXT + headOf(MOST_HEAD_BYTES + 1), 1, TOO_LARGE],
  ['many short lines', head(GET, HOST, ...Array(500).fill('X: y')), 0, TOO_LARGE],
  ['a long name', head(GET, HOST, `${long}: y`), 0, TOO_LARGE],
  ['a long target', head(`GET /${long} HTTP/1.1`, HOST), 0, 'target_too_long'],
  ['a target without an end', `GET /${long}`, 0, 'target_too_long'],
  ['a first line without an end', long, 0, 'target_too_long'],
  // Refused before their end.
  ['TLS', '\x16\x03\x01', 0, 'malformed'],
  ['a bare LF behind the first line', 'GET / HTTP/1.1\nHost', 0, 'malformed'],
  ['NUL in a value', 'GET / HTTP/1.1\r\nX: \0', 0, 'malformed'],
  ['a bare LF', '\n', 0, 'malformed'],
  ['two empty lines', '\r\n\r\n', 0, 'malformed'],
  ['a bare CR', '\rG', 0, 'malformed'],
  // The worst fault, whichever bytes of it are there already.
  ['another version and NUL', head('GET / HTTP/2.0', HOST, 'X: \0'), 0, 'malformed'],
  ['another method and a space', head('FOO / HTTP/1.1', HOST, 'X : y'), 0, 'malformed'],
  ['another method and version', head('FOO / HTTP/2.0'), 0, 'version'],
])('a head is whole or refused, however it arrives: %s', (_what, bytes, whole, fault) => {
  expect(outcomeOf(bytes)).toEqual({ whole, fault });
});

describe('the fields of a head', () => {
  test('are in their order, as they were spelt, with values without the space around them', () => {
    const { list } = readFields('HoSt:a\r\nX: \t y\tz \r\nx:\r\nCaf: \xe9\r\n\r\n');
    expect(list).toEqual(['HoSt', 'a', 'X', 'y\tz', 'x', '', 'Caf', '\xe9']);
  });

  test('are those of this request, also if they are nearly those of the request before', () => {
    const heads = new RequestHeads();
    const fieldsOf = (...lines: readonly string[]) =>
      heads.read(head('GET / HTTP/1.1', ...lines)).fields;
    const first = fieldsOf(HOST, 'X: y');
    expect(fieldsOf(HOST, 'X: y')).toBe(first);
    expect(fieldsOf(HOST, 'X: z').list).toEqual(['Host', 'a', 'X', 'z']);
    expect(fieldsOf(HOST, 'X: y').list).toEqual(['Host', 'a', 'X', 'y']);
    expect(() => fieldsOf('X: y')).toThrow('The Host header is missing');
    expect(fieldsOf(HOST).list).toEqual(['Host', 'a']);
  });

  test('are judged for each request, although they are remembered', () => {
    const heads = new RequestHeads();
    const read = (line: string, ...lines: readonly string[]) => heads.read(head(line, ...lines));
    expect(read(POST, HOST, CHUNKED).framing).toBe('chunked');
    expect(() => read('POST / HTTP/1.0', HOST, CHUNKED)).toThrow(
      'HTTP/1.0 has no Transfer-Encoding',
    );
    expect(read('GET http://a/ HTTP/1.1', HOST).target).toBe('http://a/');
    expect(() => read('GET http://b/ HTTP/1.1', HOST)).toThrow('another host');
    expect(read('GET / HTTP/1.0').persistent).toBe(false);
    expect(() => read('GET / HTTP/1.1')).toThrow('The Host header is missing');
  });

  test('may be refused without a byte of theirs in the message', () => {
    const heads = new RequestHeads();
    const texts = [
      `X-Key sk_secret: y`,
      `X: sk_secret\0`,
      `Host: sk_secret sk_secret`,
      `Content-Length: sk_secret`,
    ];
    for (const line of texts) {
      expect(() => heads.read(head('GET /sk_secret HTTP/1.1', HOST, line))).toThrow(
        /^(?!.*sk_secret)/,
      );
    }
    expect(() => heads.read(head('GET /sk_secret', HOST))).toThrow(/^(?!.*sk_secret)/);
  });
});

const LENGTH = 'Content-Length: 5';

test.each<[persists: boolean, ...lines: string[]]>([
  [true, 'HTTP/1.1 200 OK', LENGTH],
  [true, 'HTTP/1.1 200 OK', CHUNKED],
  [true, 'HTTP/1.1 204 No Content'],
  [true, 'HTTP/1.1 204 No Content', 'Content-Length: 0'],
  [true, 'HTTP/1.1 304 Not Modified', LENGTH],
  [true, 'HTTP/1.0 200 OK', 'Connection: keep-alive', LENGTH],
  [false, 'HTTP/1.1 200 OK'],
  [false, 'HTTP/1.1 200 OK', 'Connection: keep-alive'],
  [false, 'HTTP/1.1 200 OK', LENGTH, 'Connection: close'],
  [false, 'HTTP/1.0 200 OK', LENGTH],
  [false, 'HTTP/1.1 204 No Content', LENGTH],
  [false, 'HTTP/1.1 204 No Content', CHUNKED],
])(
  'a connection is used again only where no reader can doubt the end: %s, %s',
  (expected, ...all) => {
    expect(new ResponseHeads().read(head(...all), 'GET').persistent).toBe(expected);
  },
);

describe('chunks', () => {
  test('of one read are handed on in one piece', () => {
    const pieces: string[] = [];
    const chunks = new Chunks((bytes) => pieces.push(bytes.toString()), 100);
    chunks.take(Buffer.from('1\r\na\r\n1\r\nb\r\n4;x=y\r\ncde'), 0);
    chunks.take(Buffer.from('f\r\n2\r\ngh\r\n'), 0);
    chunks.take(Buffer.from('0\r\n\r\n'), 0);
    expect([pieces, chunks.over]).toEqual([['abcde', 'fgh'], true]);
  });

  const MOST_EXTENSIONS = 16 * 1024;

  const one = (size: number) => chunked(`1;${'a'.repeat(size - 5)}\r\nx\r\n0;bcd\r\n\r\n`);
  const many = (count: number) => chunked(`${'1;a\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
  const endless = 'a'.repeat(MOST_EXTENSIONS + 100);

  test.each<[what: string, bytes: string, whole: number, fault: string | null]>([
    ['the most bytes in one', one(MOST_EXTENSIONS), 1, null],
    ['one more byte in one', one(MOST_EXTENSIONS + 1), 0, 'extensions_too_large'],
    ['the most bytes in thousands', many(MOST_EXTENSIONS / 2), 1, null],
    ['more bytes in thousands', many(MOST_EXTENSIONS / 2 + 1), 0, 'extensions_too_large'],
    ['no end', chunked(`1;${endless}`), 0, 'extensions_too_large'],
    ['no end of a size', chunked(endless.replaceAll('a', '0')), 0, 'extensions_too_large'],
  ])('may have so many bytes of extensions together: %s', (_what, bytes, whole, fault) => {
    expect(outcomeOfLong(bytes)).toEqual({ whole, fault });
  });

  test('may have trailers as long as a head, and not a byte longer', () => {
    const body = (size: number) => chunked(`0\r\nX: ${'y'.repeat(size - 7)}\r\n\r\n`);
    expect(outcomeOf(body(MOST_HEAD_BYTES))).toEqual({ whole: 1, fault: null });
    expect(outcomeOf(body(MOST_HEAD_BYTES + 1))).toEqual({ whole: 0, fault: TOO_LARGE });
    expect(outcomeOf(chunked(`0\r\n${'X: y\r\n'.repeat(400)}\r\n`)).fault).toBe(TOO_LARGE);
    expect(outcomeOf(chunked(`0\r\n${long}`)).fault).toBe(TOO_LARGE);
  });

  /** For only some of the splits. */
  function outcomeOfLong(bytes: string) {
    const summary = (pieces: readonly string[]) => {
      const { messages, fault } = readRequests(pieces);
      return { whole: messages.filter(({ whole }) => whole).length, fault };
    };
    const one = summary([bytes]);
    expect(summary(bytewise(bytes))).toEqual(one);
    for (const pieces of inTwo(bytes).filter((_, i) => i % 997 === 0))
      expect(summary(pieces)).toEqual(one);
    return one;
  }
});

describe('the end of a connection', () => {
  test('is in order between messages, and behind one empty line', () => {
    for (const bytes of ['', NEXT, NEXT + NEXT, '\r\n', `${NEXT}\r\n`, chunked('0\r\n\r\n')]) {
      expect([bytes, outcomeOf(bytes, true).fault]).toEqual([bytes, null]);
    }
  });

  test('inside a message is a fault, wherever it is', () => {
    const messages = [
      `${head(POST, HOST, 'Content-Length: 3')}abc`,
      chunked('3;a=b\r\nabc\r\n0\r\nX: y\r\n\r\n'),
      head('GET / HTTP/1.0', 'Connection: keep-alive'),
    ];
    for (const message of messages) {
      for (let size = 1; size < message.length; size++) {
        const begun = message.slice(0, size);
        expect([begun, readRequests([begun], { ends: true }).fault]).toEqual([begun, 'cut_off']);
        expect([begun, readRequests([NEXT + begun], { ends: true }).fault]).toEqual([
          begun,
          'cut_off',
        ]);
      }
    }
  });
});

describe('the reader', () => {
  function reading(onBody: (reader: MessageReader<RequestHead>, bytes: Buffer) => void = () => {}) {
    const parts: string[] = [];
    const heads = new RequestHeads();
    const reader: MessageReader<RequestHead> = new MessageReader({
      parse: (text) => heads.read(text),
      sink: {
        head: ({ method }) => parts.push(method),
        body: (bytes) => {
          parts.push(bytes.toString('latin1'));
          onBody(reader, bytes);
        },
        end: () => parts.push('end'),
      },
      mostHeadBytes: MOST_HEAD_BYTES,
      skipsEmptyLine: true,
    });
    return { reader, parts, feed: (text: string) => reader.feed(Buffer.from(text, 'latin1')) };
  }

  test('stops behind each message until it may continue', () => {
    const { reader, parts, feed } = reading();
    feed(NEXT + NEXT);
    expect(parts).toEqual(['GET', 'end']);
    expect(reader.waiting).toBe(NEXT.length);
    feed('nonsense\0');
    expect(reader.waiting).toBe(NEXT.length + 9);
    reader.next();
    expect(parts).toEqual(['GET', 'end', 'GET', 'end']);
    expect(() => reader.next()).toThrow('control character');
  });

  test('knows whether it is inside a message, and inside a body', () => {
    const { reader, feed } = reading();
    const states: [boolean, boolean][] = [];
    const state = () => states.push([reader.inMessage, reader.inBody]);
    state();
    feed('\r\n');
    state();
    feed('POST / HTTP/1.1\r\nHost: a\r\nContent-Le');
    state();
    feed('ngth: 2\r\n\r\n');
    state();
    feed('a');
    state();
    feed('bG');
    state();
    reader.next();
    state();
    expect(states).toEqual([
      [false, false],
      [false, false],
      [true, false],
      [true, true],
      [true, true],
      [false, false],
      [true, false],
    ]);
  });

  test('gives up the bytes behind a message, for a tunnel', () => {
    const { reader, parts, feed } = reading();
    feed(`${NEXT}\0\x01tunnel`);
    expect(reader.takeRest()!.toString('latin1')).toBe('\0\x01tunnel');
    expect(reader.takeRest()).toBeNull();
    expect(reader.waiting).toBe(0);
    expect(parts).toEqual(['GET', 'end']);
  });

  test.each([
    ['by length', head(POST, HOST, 'Content-Length: 6'), 'abcdef'],
    ['in chunks', head(POST, HOST, CHUNKED), '3\r\nabc\r\n3\r\ndef\r\nnonsense'],
  ])(
    'that is stopped in a body %s reports nothing more, and takes no fault',
    (_how, begin, body) => {
      const { reader, parts, feed } = reading((reader) => reader.stop());
      feed(begin + body);
      feed(NEXT);
      reader.finish();
      expect(parts).toHaveLength(2);
      expect(parts[0]).toBe('POST');
      expect(reader.inMessage).toBe(false);
      expect(reader.waiting).toBe(0);
    },
  );

  test('passes a buffer on as it is where all of it is body', () => {
    const passed: Buffer[] = [];
    const { reader, feed } = reading((_reader, bytes) => passed.push(bytes));
    feed(head(POST, HOST, 'Content-Length: 4'));
    const bytes = Buffer.from('abcd');
    reader.feed(bytes);
    expect(passed[0]).toBe(bytes);
  });
});

describe('the work for bytes grows no faster than their number', () => {
  const times = (count: number, text: string) => text.repeat(count);
  test.each<[what: string, bytes: (size: number) => string, mostHeadBytes?: number]>([
    ['a long value', (size) => `GET / HTTP/1.1\r\nHost: a\r\nX: ${times(size, 'y')}\r\n\r\n`],
    [
      'a value of spaces',
      (size) => `GET / HTTP/1.1\r\nHost: a\r\nX: y${times(size, ' ')}z\r\n\r\n`,
    ],
    [
      'spaces in Connection',
      (size) => `GET / HTTP/1.1\r\nHost: a\r\nConnection: y${times(size, ' ')}z\r\n\r\n`,
    ],
    ['many lines', (size) => `GET / HTTP/1.1\r\nHost: a\r\n${times(size / 8, 'X-Y: z\r\n')}\r\n`],
    ['a long target', (size) => `GET /${times(size, 'a')} HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['many requests', (size) => times(size / NEXT.length, NEXT)],
    ['a long body', (size) => `${head(POST, HOST, `Content-Length: ${size}`)}${times(size, 'x')}`],
    ['a long chunk', (size) => chunked(`${size.toString(16)}\r\n${times(size, 'x')}\r\n0\r\n\r\n`)],
    ['tiny chunks', (size) => chunked(`${times(size / 6, '1\r\nx\r\n')}0\r\n\r\n`)],
    ['a long extension', (size) => chunked(`1;a=${times(size, 'b')}\r\nx\r\n0\r\n\r\n`)],
    ['many extensions', (size) => chunked(`1${times(size / 4, ';a=b')}\r\nx\r\n0\r\n\r\n`)],
    ['many trailers', (size) => chunked(`0\r\n${times(size / 8, 'X-Y: z\r\n')}\r\n`)],
  ])('%s', (_what, bytesOf) => {
    for (const split of [bytewise, (bytes: string) => [bytes], inHundreds]) {
      const [small, large] = [4_000, 8_000].map((size) => {
        const pieces = split(bytesOf(size));
        let faulty = true;
        const touched = bytesTouched(() => {
          faulty = readRequests(pieces, { mostHeadBytes: 16_384 }).fault !== null;
        });
        expect(faulty).toBe(false);
        return touched;
      });
      expect(large! / small!).toBeLessThan(2.5);
    }
  });
});
