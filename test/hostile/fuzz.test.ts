import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Fixture, isAnError, PET } from './fixture.ts';
import type { Wire } from './wire.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await Fixture.start({
    settings: 'http: {authFailureLimit: {failures: 1000000, window: 1m}}',
  });
});
afterAll(() => fixture.stop());

const SHARDS = [
  '\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ';',
  ',',
  '%',
  '%00',
  '%2f',
  '/../',
  '//',
  '#',
  '?',
  '\\',
  '\x7f',
  '\xff',
  '0\r\n\r\n',
  '1d\r\n',
  'ffffffffffffffff\r\n',
  'Content-Length: 5\r\n',
  'Content-Length: 0\r\n',
  'content-length:',
  'Transfer-Encoding: chunked\r\n',
  'Transfer-Encoding: identity\r\n',
  'Host: b\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  'Connection: Upgrade\r\nUpgrade: websocket\r\n',
  'X-API-Key: x\r\n',
  ' HTTP/1.0\r\n',
  'X-Storegate-Account: other-client\r\n',
  'GET /pets HTTP/1.1\r\n',
  'HTTP/1.1 200 OK\r\n\r\n',
  '{"name":1}',
  '{"a":',
]; // prettier-ignore

/** A mutation may hit this header without breaking the request, so smuggled bytes get a chance. */
const PADDING = `X-Padding: ${'abc def '.repeat(30)}`;
const BODY = `{${' '.repeat(40)}"name":"Rex","categoryId":1${' '.repeat(40)}}`;

const seeds = () => [
  fixture.request('GET /pets?limit=3', [PADDING]),
  fixture.request('GET /pets/1', [PADDING, PADDING]),
  fixture.post([PADDING, `Content-Length: ${BODY.length}`], BODY),
  fixture.post(
    [PADDING, 'Transfer-Encoding: chunked'],
    `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
  ),
  fixture.post(
    [PADDING, 'Transfer-Encoding: chunked'],
    `1d;a=b\r\n${PET}\r\n0\r\n${PADDING}\r\n\r\n`,
  ),
  fixture.request('OPTIONS /pets', [
    'Origin: http://a.example',
    'Access-Control-Request-Method: POST',
    PADDING,
  ]),
];

const mutation = fc.record({
  kind: fc.constantFrom('insert', 'replace', 'delete', 'repeat', 'flip', 'cut'),
  // Without fast-check's bias towards the ends of a range: nearly all mutations would hit the
  // method.
  at: fc.noBias(fc.nat({ max: 9_999 })).map((share) => share / 10_000),
  length: fc.integer({ min: 1, max: 12 }),
  shard: fc.constantFrom(...SHARDS),
  bit: fc.integer({ min: 0, max: 7 }),
});
type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(bytes: string, { kind, at, length, shard, bit }: Mutation): string {
  const i = Math.floor(at * bytes.length);
  const [before, after] = [bytes.slice(0, i), bytes.slice(i)];
  switch (kind) {
    case 'insert':
      return before + shard + after;
    case 'replace':
      return before + shard + after.slice(shard.length);
    case 'delete':
      return before + after.slice(length);
    case 'repeat':
      return before + after.slice(0, length).repeat(3) + after.slice(length);
    case 'flip':
      return (
        before + String.fromCharCode((after.charCodeAt(0) ^ (1 << bit)) & 255 || 0) + after.slice(1)
      );
    case 'cut':
      return before;
  }
}

const statuses = new Map<number, number>();

async function readAnswers(wire: Wire, bytes: string): Promise<void> {
  // A client that closes its side gets no more responses, so more bytes complete a truncated
  // request.
  wire
    .send(bytes)
    .send('\r\n\r\n')
    .send(fixture.request('GET /end', ['Connection: close']));
  for (;;) {
    const response = await wire.answer().catch(() => null);
    if (response === null) return;
    statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
    if (response.status >= 400) isAnError(response);
    expect(response.status).not.toBe(500);
  }
}

test('for any mutated request, the backend receives only whole requests of this client, and the gateway works', async () => {
  const run = async (seed: number, mutations: readonly Mutation[]) => {
    const bytes = mutations.reduce(mutate, seeds()[seed]!);
    const before = fixture.backend.requests.length;
    const wire = await fixture.connect();
    const patience = setTimeout(() => wire.close(), 300);
    await readAnswers(wire, bytes);
    clearTimeout(patience);
    wire.close();
    expect(fixture.backend.complaints).toEqual([]);
    for (const { line, headers, body } of fixture.backend.requests.slice(before)) {
      expect(line).toMatch(
        /^(GET|HEAD|POST|PUT|DELETE) \/(pets|categories|backend)[!-~]* HTTP\/1\.1$/,
      );
      expect(headers.filter(([name]) => /^x[-_]storegate[-_]account$/i.test(name))).toEqual([
        ['X-Storegate-Account', 'acme'],
      ]);
      if (body !== '')
        expect(JSON.parse(body)).toMatchObject({
          name: expect.any(String),
          categoryId: expect.any(Number),
        });
    }
  };
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: seeds().length - 1 }),
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      run,
    ),
    { seed: 20_260_101, numRuns: 2000, endOnFailure: true },
  );
  // The mutated requests are neither all valid nor all invalid.
  const all = [...statuses.values()].reduce((sum, count) => sum + count);
  for (const status of [200, 400, 404])
    expect([status, (statuses.get(status) ?? 0) > all / 40]).toEqual([status, true]);
  expect(fixture.gateway.log.filter(({ msg }) => msg === 'bug')).toEqual([]);
  expect((await fixture.ask(fixture.probe)).status).toBe(200);
});
