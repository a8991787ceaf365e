import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from '@jest/globals';
import { CHUNKS } from '../../packages/http1/test/cases/chunks.ts';
import { HEADER_LINES } from '../../packages/http1/test/cases/header-lines.ts';
import { LENGTHS } from '../../packages/http1/test/cases/lengths.ts';
import { REQUEST_LINES } from '../../packages/http1/test/cases/request-lines.ts';
import { isDeep } from '../runner/fast-check.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { attack, keysOf, OtherClient, pet, petIn } from './other-client.ts';
import { haproxyBefore, nginxBefore, startNginx, Tap } from './proxies.ts';
import { RecordingBackend } from './recording-backend.ts';

/** Usually every third; the parser alone has all of them in `packages/http1`. */
const CASES = [...LENGTHS, ...CHUNKS, ...HEADER_LINES, ...REQUEST_LINES].filter(
  (_, i) => isDeep || i % 3 === 0,
);
const SETTINGS =
  'http: {authFailureLimit: {failures: 1000000, window: 1m}}\nupstream: {connections: 1}';

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function later<T>(thing: T, close: (thing: T) => Promise<void>): T {
  closing.push(() => close(thing));
  return thing;
}

function attackOf(bytes: string, secret: string, path = '/pets'): string {
  return bytes
    .replaceAll('Host: a\r\n', `Host: a\r\nX-API-Key: ${secret}\r\n`)
    .replaceAll(' / HTTP', ` ${path} HTTP`)
    .replaceAll('/evil', '/pets/666')
    .replaceAll('/next', '/pets/667');
}

async function startStore(): Promise<RecordingBackend> {
  const backend = await RecordingBackend.start((socket, { line }) => {
    const body = pet(petIn(line));
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
  return later(backend, () => backend.close());
}

test.each([
  ['nginx', nginxBefore],
  ['HAProxy', haproxyBefore],
])(
  'behind %s, whatever an attacker sends, the next client gets the response to its own request',
  async (_name, proxyBefore) => {
    const backend = await startStore();
    const gateway = later(
      await TestGateway.start({ backendUrl: backend.url, settings: SETTINGS }),
      (one) => one.stop(),
    );
    const keys = await keysOf(gateway);
    const tap = later(await Tap.start(gateway.url), (one) => one.stop());
    const proxy = later(await proxyBefore(tap.url), (one) => one.stop());
    const other = new OtherClient(proxy.url, keys.other);
    for (const { what, bytes } of CASES) {
      await attack(proxy.url, attackOf(bytes, keys.attacker));
      expect([what, await other.ask()]).toEqual([
        what,
        { status: 200, id: other.pet, name: 'Rex' },
      ]);
    }
    other.close();
    expect(backend.complaints).toEqual([]);
    const ofOther = backend.requests.filter(({ headers }) =>
      headers.some(([, value]) => value === 'other-client'),
    );
    expect(ofOther.map(({ line }) => line)).toEqual(
      CASES.map((_, i) => `GET /pets/${1_001 + i} HTTP/1.1`),
    );
    // The attacks passed, and requests of the other client followed on the same connections.
    const shared = tap.connections.map(({ sent }) => sent.split(keys.attacker).slice(1));
    const reached = shared.flat().length;
    const followed = shared.flat().filter((sent) => sent.includes(keys.other)).length;
    expect(reached).toBeGreaterThan(CASES.length / 4);
    expect(followed).toBeGreaterThan(5);
  },
);

test('before nginx, whatever an attacker sends, the next client gets the response to its own request', async () => {
  let log = '';
  const behind = await startNginx((folder) => {
    log = `${folder}/access.log`;
    return `access_log ${log} line; default_type application/json;
        location ~ ^/pets/(?<id>\\d+)$ { return 200 '{"id":$id,"name":"Rex"}'; }
        location / { return 200 '[]'; }`;
  }, "log_format line '$request';");
  later(behind, (one) => one.stop());
  const tap = later(await Tap.start(behind.url), (one) => one.stop());
  const settings = `${SETTINGS}\napis: [{name: files, path: /files, contract: none, stripPath: false, target: "${tap.url}"}]`;
  const gateway = later(await TestGateway.start({ backendUrl: tap.url, settings }), (one) =>
    one.stop(),
  );
  const keys = await keysOf(gateway);
  const other = new OtherClient(gateway.url, keys.other);
  // Bodies of the contract are forwarded whole, bodies of an API without a contract as a stream.
  for (const path of ['/pets', '/files/a']) {
    for (const { what, bytes } of CASES) {
      await attack(gateway.url, attackOf(bytes, keys.attacker, path));
      expect([path, what, await other.ask()]).toEqual([
        path,
        what,
        { status: 200, id: other.pet, name: 'Rex' },
      ]);
    }
  }
  other.close();
  const seen = () => readFileSync(log, 'utf8').split('\n');
  const last = other.pet;
  await until('the log has the last request', () => seen().some((line) => petIn(line) === last));
  expect(seen().filter((line) => petIn(line) > 1_000)).toHaveLength(2 * CASES.length);
  expect(seen().filter((line) => line.startsWith('POST /files/a ')).length).toBeGreaterThan(10);
  // No hidden request of an attack becomes a request of its own.
  expect(seen().filter((line) => line.includes('/pets/666'))).toEqual([]);
});
