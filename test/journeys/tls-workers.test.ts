import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Authority } from '../support/certificates.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers } from '../support/workers.ts';

const NAME = 'gateway.example';

let authority: Authority;
let pair: { cert: string; key: string };
let redis: RedisServer;
let backend: FakeBackend;
let gateway: GatewayWithWorkers;
let key: string;
beforeAll(async () => {
  authority = new Authority();
  pair = authority.issue('gateway', `DNS:${NAME}`);
  redis = await startRedis();
  backend = await fakeBackend((_request, response) => {
    response.setHeader('Content-Type', 'application/json');
    response.end('[]');
  });
  const env = { STOREGATE_TLS_CERT: pair.cert, STOREGATE_TLS_KEY: pair.key };
  gateway = await GatewayWithWorkers.start({ redisUrl: redis.url, backendUrl: backend.url, env });
  ({ key } = await gateway.key('100000/minute'));
});
afterAll(async () => {
  await gateway?.stop();
  await backend.close();
  await redis.stop();
  authority.remove();
});

async function ask(
  options: ConnectionOptions = {},
): Promise<{ resumed: boolean; serial: string | undefined }> {
  const port = Number(new URL(gateway.url).port);
  const socket: TLSSocket = connect({
    host: '127.0.0.1',
    port,
    ca: authority.pem,
    servername: NAME,
    ...options,
  });
  await once(socket, 'secureConnect');
  const seen = {
    resumed: socket.isSessionReused(),
    serial: socket.getPeerX509Certificate()?.serialNumber,
  };
  socket.write(`GET /pets HTTP/1.1\r\nHost: ${NAME}\r\nX-API-Key: ${key}\r\n\r\n`);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
  return seen;
}

async function askEveryWorker(options: ConnectionOptions = {}) {
  const before = gateway.logged('request').length;
  const seen: Awaited<ReturnType<typeof ask>>[] = [];
  await until('every worker has answered', async () => {
    seen.push(await ask(options));
    return (
      new Set(
        gateway
          .logged('request')
          .slice(before)
          .map(({ worker }) => worker),
      ).size === 2
    );
  });
  return seen;
}

test.each(['TLSv1.2', 'TLSv1.3'] as const)(
  'a session of one worker in %s is resumed by each',
  async (version) => {
    const versions = { minVersion: version, maxVersion: version };
    const port = Number(new URL(gateway.url).port);
    const first = connect({
      host: '127.0.0.1',
      port,
      ca: authority.pem,
      servername: NAME,
      ...versions,
    });
    const [session] = (await once(first, 'session')) as [Buffer];
    first.destroy();
    const seen = await askEveryWorker({ ...versions, session });
    expect(seen.every(({ resumed }) => resumed)).toBe(true);
  },
);

test('a renewed certificate is used by every worker, also by one that starts later', async () => {
  const [before] = await askEveryWorker();
  const renewed = authority.issue('renewed', `DNS:${NAME}`);
  copyFileSync(renewed.cert, pair.cert);
  copyFileSync(renewed.key, pair.key);
  await until('it is taken', () => gateway.logged('reload.done').length > 0);
  const all = await askEveryWorker();
  const serials = new Set(all.map(({ serial }) => serial));
  expect([serials.size, serials.has(before!.serial)]).toEqual([1, false]);
  const [killed] = gateway.pids;
  process.kill(killed!, 'SIGKILL');
  await until('another one has taken its place', () => !gateway.pids.includes(killed!));
  expect(new Set((await askEveryWorker()).map(({ serial }) => serial))).toEqual(serials);
  const exposition = await (await fetch(`${gateway.adminUrl}/metrics`)).text();
  expect(exposition).toMatch(/^storegate_certificate_expiry_timestamp_seconds \d+$/m);
});
