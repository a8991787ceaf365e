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

describe('a head', () => {
  test('may be as long as the limit, and not a byte longer', () => {
    expect(outcomeOf(headOf(MOST_HEAD_BYTES))).toEqual({ whole: 1, fault: null });
    expect(outcomeOf(headOf(MOST_HEAD_BYTES + 1))).toEqual({ whole: 0, fault: 'head_too_large' });
  });

  test('may be as long as the limit behind an empty line, and behind another request', () => {
    expect(outcomeOf(`\r\n${headOf(MOST_HEAD_BYTES)}`)).toEqual({ whole: 1, fault: null });
    expect(outcomeOf(`\r\n${headOf(MOST_HEAD_BYTES + 1)}`)).toEqual({
      whole: 0,
      fault: 'head_too_large',
    });
    expect(outcomeOf(`${NEXT}\r\n${headOf(MOST_HEAD_BYTES)}`)).toEqual({ whole: 2, fault: null });
    expect(outcomeOf(`${NEXT}${headOf(MOST_HEAD_BYTES + 1)}`)).toEqual({
      whole: 1,
      fault: 'head_too_large',
    });
  });

  test('is too large whatever its lines are: one long value, many short ones, one long name', () => {
    expect(outcomeOf(head('GET / HTTP/1.1', HOST, ...Array(500).fill('X: y')))).toEqual({
      whole: 0,
      fault: 'head_too_large',
    });
    expect(outcomeOf(head('GET / HTTP/1.1', HOST, `${'X'.repeat(3_000)}: y`))).toEqual({
      whole: 0,
      fault: 'head_too_large',
    });
  });

  test('whose first line has no end within the limit has too long a target', () => {
    expect(outcomeOf(head(`GET /${'a'.repeat(3_000)} HTTP/1.1`, HOST))).toEqual({
      whole: 0,
      fault: 'target_too_long',
    });
    expect(outcomeOf(`GET /${'a'.repeat(3_000)}`)).toEqual({ whole: 0, fault: 'target_too_long' });
    expect(outcomeOf('A'.repeat(3_000))).toEqual({ whole: 0, fault: 'target_too_long' });
  });

  test('that cannot become one is refused before its end', () => {
    for (const begun of [
      '\x16\x03\x01',
      'GET / HTTP/1.1\nHost',
      'GET / HTTP/1.1\r\nX: \0',
      '\n',
      '\r\n\r\n',
      '\rG',
    ]) {
      expect([begun, outcomeOf(begun)]).toEqual([begun, { whole: 0, fault: 'malformed' }]);
    }
  });

  test('names its worst fault, whichever bytes of it are there already', () => {
    expect(outcomeOf(head('GET / HTTP/2.0', HOST, 'X: \0')).fault).toBe('malformed');
    expect(outcomeOf(head('FOO / HTTP/1.1', HOST, 'X : y')).fault).toBe('malformed');
    expect(outcomeOf(head('FOO / HTTP/2.0')).fault).toBe('version');
  });
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

test('an answer lets its connection be used again only where no reader can doubt its end', () => {
  const persists = (...lines: readonly string[]) =>
    new ResponseHeads().read(head(...lines), 'GET').persistent;
  const LENGTH = 'Content-Length: 5';
  expect(persists('HTTP/1.1 200 OK', LENGTH)).toBe(true);
  expect(persists('HTTP/1.1 200 OK', CHUNKED)).toBe(true);
  expect(persists('HTTP/1.1 204 No Content')).toBe(true);
  expect(persists('HTTP/1.1 204 No Content', 'Content-Length: 0')).toBe(true);
  expect(persists('HTTP/1.1 304 Not Modified', LENGTH)).toBe(true);
  expect(persists('HTTP/1.0 200 OK', 'Connection: keep-alive', LENGTH)).toBe(true);
  expect(persists('HTTP/1.1 200 OK')).toBe(false);
  expect(persists('HTTP/1.1 200 OK', 'Connection: keep-alive')).toBe(false);
  expect(persists('HTTP/1.1 200 OK', LENGTH, 'Connection: close')).toBe(false);
  expect(persists('HTTP/1.0 200 OK', LENGTH)).toBe(false);
  expect(persists('HTTP/1.1 204 No Content', LENGTH)).toBe(false);
  expect(persists('HTTP/1.1 204 No Content', CHUNKED)).toBe(false);
});

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

  test('may have so many bytes of extensions together, and not one more', () => {
    const body = (size: number) => chunked(`1;${'a'.repeat(size - 5)}\r\nx\r\n0;bcd\r\n\r\n`);
    expect(outcomeOfLong(body(MOST_EXTENSIONS))).toEqual({ whole: 1, fault: null });
    expect(outcomeOfLong(body(MOST_EXTENSIONS + 1))).toEqual({
      whole: 0,
      fault: 'extensions_too_large',
    });
  });

  test('have as much in one extension as in thousands', () => {
    const body = (count: number) => chunked(`${'1;a\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
    expect(outcomeOfLong(body(MOST_EXTENSIONS / 2))).toEqual({ whole: 1, fault: null });
    expect(outcomeOfLong(body(MOST_EXTENSIONS / 2 + 1))).toEqual({
      whole: 0,
      fault: 'extensions_too_large',
    });
  });

  test('end a line that never ends', () => {
    expect(outcomeOfLong(chunked(`1;${'a'.repeat(MOST_EXTENSIONS + 100)}`)).fault).toBe(
      'extensions_too_large',
    );
    expect(outcomeOfLong(chunked('0'.repeat(MOST_EXTENSIONS + 100))).fault).toBe(
      'extensions_too_large',
    );
  });

  test('may have trailers as long as a head, and not a byte longer', () => {
    const body = (size: number) => chunked(`0\r\nX: ${'y'.repeat(size - 7)}\r\n\r\n`);
    expect(outcomeOf(body(MOST_HEAD_BYTES))).toEqual({ whole: 1, fault: null });
    expect(outcomeOf(body(MOST_HEAD_BYTES + 1))).toEqual({ whole: 0, fault: 'head_too_large' });
    expect(outcomeOf(chunked(`0\r\n${'X: y\r\n'.repeat(400)}\r\n`)).fault).toBe('head_too_large');
    expect(outcomeOf(chunked(`0\r\n${'X'.repeat(3_000)}`)).fault).toBe('head_too_large');
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
