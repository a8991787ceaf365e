import { METHODS } from 'node:http';
import fc from 'fast-check';

function mostly<T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof(
    { weight: 16, arbitrary: fc.constant(usual) },
    { weight: 1, arbitrary: fc.constantFrom(...others) },
  );
}

function bytesOf(pattern: RegExp): string[] {
  return Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)).filter((byte) =>
    pattern.test(byte),
  );
}

const token = fc.string({
  unit: fc.constantFrom(...bytesOf(/[\w!#$%&'*+.^`|~-]/)),
  minLength: 1,
  maxLength: 8,
});
const text = fc.string({ unit: fc.constantFrom(...bytesOf(/[\t -~\x80-\xff]/)), maxLength: 12 });
const visible = fc.string({ unit: fc.constantFrom(...bytesOf(/[!-~]/)), maxLength: 10 });
const space = mostly(' ', '', '  ', '\t', ' \t ');

const authority = fc.constantFrom(
  'a.example',
  'a.example:80',
  'A.example',
  '127.0.0.1',
  '[::1]:8080',
  'a',
  "a!$&'()*+,;=%41~_-",
);
const originForm = visible.map((path) => `/${path}`);
const target = fc.oneof(
  { weight: 12, arbitrary: originForm },
  { weight: 2, arbitrary: visible.map((path) => `http://a.example/${path}`) },
  { weight: 1, arbitrary: authority },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('http://', 'HTTPS://', 'ftp://'), authority, visible)
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.constantFrom('*', '/', '//', '/?', '/#', 'http://') },
);

/** Not Proxy-Connection: llhttp closes for its `close`, which no RFC requires. */
const NAMES = [
  ...['Host', 'Connection', 'Keep-Alive', 'Content-Length', 'Transfer-Encoding', 'Upgrade'],
  ...['Expect', 'Trailer', 'TE', 'Content-Type', 'Cookie', 'HTTP2-Settings'],
];
const VALUES = [
  'close',
  'keep-alive',
  'Upgrade',
  'close, keep-alive',
  'keep-alive ,\tclose',
  'x-close',
  '\xa0close',
  'chunked',
  'Chunked ',
  'chunked, chunked',
  'gzip, chunked',
  'identity',
  'websocket',
  'h2c',
  '100-continue',
  '0',
  '5',
  '+5',
  '05',
  '5, 5',
  '0x5',
  '18446744073709551621',
  'a.example',
];
const name = fc.oneof(
  { weight: 4, arbitrary: token },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
);
const value = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom(...VALUES) },
);
const spelling = fc.constantFrom<(name: string) => string>(
  (name) => name,
  (name) => name.toLowerCase(),
  (name) => name.toUpperCase(),
);
const line = fc
  .tuple(name, spelling, space, value, space)
  .map(([name, spelt, before, value, behind]) => `${spelt(name)}:${before}${value}${behind}`);
const lines = fc.array(line, { maxLength: 4 });

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const body = fc.oneof(
  fc.string({ unit: fc.constantFrom(...bytesOf(/./s)), maxLength: 24 }),
  fc.constantFrom('', SMUGGLED, '0\r\n\r\n', '\r\n', `0\r\n\r\n${SMUGGLED}`),
);

const quoted = text.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`);
const extension = fc
  .tuple(
    token,
    fc.oneof(
      fc.constant(''),
      token.map((token) => `=${token}`),
      quoted.map((quoted) => `=${quoted}`),
    ),
  )
  .map((parts) => `;${parts.join('')}`);
const extensions = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.array(extension, { maxLength: 2 }).map((all) => all.join('')) },
);
const size = fc.constantFrom<(size: number) => string>(
  (size) => size.toString(16),
  (size) => size.toString(16).toUpperCase(),
  (size) => `00${size.toString(16)}`,
);
const chunk = fc
  .tuple(body, size, extensions)
  .map(([data, size, extensions]) =>
    data === '' ? '' : `${size(data.length)}${extensions}\r\n${data}\r\n`,
  );
const trailers = fc.oneof(
  { weight: 4, arbitrary: fc.constant([] as string[]) },
  { weight: 1, arbitrary: lines },
);
const chunks = fc
  .tuple(
    fc.array(chunk, { maxLength: 3 }),
    fc.constantFrom('0', '00', '0000'),
    extensions,
    trailers,
  )
  .map(
    ([chunks, zero, extensions, trailers]) =>
      `${chunks.join('')}${zero}${extensions}\r\n${joined(trailers)}`,
  );

const framed = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ lines: [] as string[], body: '' }) },
  {
    weight: 2,
    arbitrary: fc.tuple(body, space, space).map(([body, before, behind]) => ({
      lines: [`Content-Length:${before}${body.length}${behind}`],
      body,
    })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(chunks, space, mostly('chunked', 'Chunked'), space)
      .map(([body, before, coding, behind]) => ({
        lines: [`Transfer-Encoding:${before}${coding}${behind}`],
        body,
      })),
  },
);

const version = mostly('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2');
const joined = (lines: readonly string[]) => `${lines.map((line) => `${line}\r\n`).join('')}\r\n`;

const request = fc
  .record({
    empty: mostly('', '\r\n', '\r\n\r\n'),
    method: mostly('POST', ...METHODS),
    target,
    version,
    host: mostly('Host: a.example', 'host:a', 'Host: ', 'Host: a b', 'X: y'),
    lines,
    framed,
    framingFirst: fc.boolean(),
  })
  .map(({ empty, method, target, version, host, lines, framed, framingFirst }) => {
    const fields = framingFirst
      ? [...framed.lines, host, ...lines]
      : [host, ...lines, ...framed.lines];
    return `${empty}${method} ${target} ${version}\r\n${joined(fields)}${framed.body}`;
  });

const response = fc
  .record({
    version: mostly('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0'),
    status: mostly(
      '200',
      '100',
      '101',
      '103',
      '204',
      '206',
      '301',
      '304',
      '404',
      '500',
      '599',
      '600',
      '000',
      '099',
    ),
    reason: mostly(' OK', '', ' ', ' Not \xe9 Found', '  two', ' tab\t'),
    lines,
    framed,
    framingFirst: fc.boolean(),
  })
  .map(({ version, status, reason, lines, framed, framingFirst }) => {
    const fields = framingFirst ? [...framed.lines, ...lines] : [...lines, ...framed.lines];
    return `${version} ${status}${reason}\r\n${joined(fields)}${framed.body}`;
  });

const SHARDS = [
  '\r\n',
  '\r',
  '\n',
  '\r\r\n',
  '\n\r\n',
  '\r\n\r\n',
  ' ',
  '  ',
  '\t',
  '\v',
  '\f',
  '\0',
  '\x01',
  '\x1f',
  '\x7f',
  '\x80',
  '\xa0',
  '\xff',
  ':',
  ';',
  ',',
  '=',
  '"',
  '\\',
  '#',
  '?',
  '0',
  '1',
  'f',
  'x',
  '+',
  '-',
  '\r\n ',
  '\r\n\t',
  '0\r\n\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'Content-Length : 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding:\r\n chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Host: b\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  SMUGGLED,
];

/** The place is a share of the length. */
const mutation = fc.record({
  kind: fc.constantFrom(
    'insert',
    'replace',
    'delete',
    'repeat',
    'flip',
    'line_twice',
    'no_line',
    'digit',
  ),
  // fast-check's bias for the ends of a range would direct nearly all mutations to the first line.
  at: fc.noBias(fc.nat({ max: 9_999 })).map((share) => share / 10_000),
  /** Whether the place moves to the next separator byte. */
  atSeam: fc.boolean(),
  length: fc.integer({ min: 1, max: 4 }),
  shard: fc.constantFrom(...SHARDS),
  bit: fc.integer({ min: 0, max: 7 }),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutated(bytes: string, { kind, at, atSeam, length, shard, bit }: Mutation): string {
  const share = Math.floor(at * bytes.length);
  const seam = atSeam ? bytes.slice(share).search(/[\r\n:; ,=]/) : 0;
  const i =
    kind === 'digit'
      ? share + Math.max(0, bytes.slice(share).search(/\d/))
      : share + Math.max(0, seam);
  const [before, after] = [bytes.slice(0, i), bytes.slice(i)];
  const lineStart = before.lastIndexOf('\n') + 1;
  const lineEnd = bytes.indexOf('\n', i) + 1 || bytes.length;
  switch (kind) {
    case 'insert':
      return before + shard + after;
    case 'replace':
      return before + shard + after.slice(shard.length);
    case 'delete':
      return before + after.slice(length);
    case 'repeat':
      return before + after.slice(0, length).repeat(2) + after.slice(length);
    case 'flip':
      return (
        before + String.fromCharCode((after.charCodeAt(0) ^ (1 << bit)) & 255 || 0) + after.slice(1)
      );
    case 'line_twice':
      return bytes.slice(0, lineEnd) + bytes.slice(lineStart);
    case 'no_line':
      return bytes.slice(0, lineStart) + bytes.slice(lineEnd);
    case 'digit':
      return before + String(bit) + after.slice(1);
  }
}

/** Often none, so that most of what follows is reached. */
const mutations = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Mutation[]>([]) },
  { weight: 4, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 1 }) },
  { weight: 1, arbitrary: fc.array(mutation, { minLength: 2, maxLength: 4 }) },
);

/** As shares of the length. */
const cuts = fc.array(fc.noBias(fc.nat({ max: 999 })), { maxLength: 4 });

export interface Case {
  readonly bytes: string;
  readonly pieces: readonly string[];
}

function inPieces(bytes: string, cuts: readonly number[]): Case {
  const places = cuts
    .map((share) => Math.floor((share / 1_000) * bytes.length))
    .sort((one, other) => one - other);
  const pieces = [0, ...places].map((from, i) => bytes.slice(from, places[i]));
  return { bytes, pieces };
}

const cases = (messages: fc.Arbitrary<string>) =>
  fc
    .tuple(messages, mutations, cuts)
    .map(([bytes, mutations, cuts]) => inPieces(mutations.reduce(mutated, bytes), cuts));

export const requestCases: fc.Arbitrary<Case> = cases(
  fc.array(request, { minLength: 1, maxLength: 3 }).map((all) => all.join('')),
);

export interface AnswerCase extends Case {
  readonly method: string;
  readonly ends: boolean;
}

/** Sometimes after interim responses. */
export const answerCases: fc.Arbitrary<AnswerCase> = fc
  .record({
    one: cases(fc.array(response, { minLength: 1, maxLength: 2 }).map((all) => all.join(''))),
    method: mostly('GET', 'HEAD', 'POST'),
    ends: fc.boolean(),
  })
  .map(({ one, method, ends }) => ({ ...one, method, ends }));
