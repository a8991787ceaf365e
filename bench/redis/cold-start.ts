/**
 * Measures the copy of the keys, and a start from it while Redis is away:
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/cold-start.ts [--keys 100000]
 *
 * Starts a separate redis-server, fills it with typical keys, lets a gateway copy them, and prints the figures of docs/redis.md,
 * section "Starting without Redis".
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { KeyRecord } from '../../src/keys/key.ts';
import { hashSecret, makeKeyId, makeSecret } from '../../src/keys/secret.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KeyCopyReader } from '../../src/state/shared/key-copy/reader.ts';
import { KEY_COPY } from '../../src/state/shared/key-copy/standing.ts';
import { type RedisServer, startRedis } from '../../test/support/redis/server.ts';
import { storegate } from '../../test/support/storegate.ts';
import { until } from '../../test/support/until.ts';

/** Milliseconds that a sweep of a million keys may take. */
const PATIENCE = 600_000;
const SETTINGS = (copy: string) => `log: { requests: false }\nredis: { deadline: 1s, keyCopy: { ${copy} } }\n`;

const { values } = parseArgs({ options: { keys: { type: 'string', default: '100000' } } });
const KEYS = Number(values.keys);

/** A key as operators make them: with a label and an end for some, one in ten rotated. */
function typicalKey(i: number, hash: string): KeyRecord {
  return {
    id: makeKeyId(),
    version: i % 10 === 0 ? 2 : 1,
    hash,
    account: `account-${i % 5_000}`,
    plan: ['free', 'pro', 'enterprise'][i % 3]!,
    label: i % 2 === 0 ? `production key ${i}` : null,
    windows: null,
    addresses: null,
    scopes: [],
    metadata: {},
    createdAt: Date.now() - i,
    expiresAt: i % 4 === 0 ? Date.now() + 31_536_000_000 : null,
    disabledAt: null,
    revokedAt: null,
    rotatedAt: i % 10 === 0 ? Date.now() : null,
    previous: i % 10 === 0 ? { hash: hashSecret(`before ${i}`), until: Date.now() + 86_400_000 } : null,
    imported: false,
  };
}

/** Answers the secret of one of the keys. */
async function fill({ admin }: RedisServer): Promise<string> {
  const secret = makeSecret('live');
  for (let from = 0; from < KEYS; from += 1_000) {
    const pipeline = admin.pipeline();
    for (let i = from; i < Math.min(KEYS, from + 1_000); i++) {
      const record = typicalKey(i, hashSecret(i === 0 ? secret : `secret ${i}`));
      const text = JSON.stringify(record);
      pipeline.set(keyOf.apiKeyId(record.id), record.hash).set(keyOf.apiKey(record.hash), text);
      if (record.previous) pipeline.set(keyOf.apiKey(record.previous.hash), text);
      pipeline.zadd(keyOf.apiKeys, record.createdAt, record.id);
    }
    await pipeline.exec();
  }
  return secret;
}

/** Kilobytes of memory and milliseconds of processor time of the process. */
function usageOf(pid: number): { rss: number; cpu: number } {
  const rss = Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
    .replace(/^.*\) /, '')
    .split(' ');
  const tick = Number(execFileSync('getconf', ['CLK_TCK']));
  return { rss, cpu: ((Number(fields[11]) + Number(fields[12])) / tick) * 1_000 };
}

const store = createServer((_request, response) => response.end('[]')).listen(0, '127.0.0.1');
await new Promise((resolve) => store.once('listening', resolve));
const storeUrl = `http://127.0.0.1:${(store.address() as { port: number }).port}`;

interface Started {
  readonly url: string;
  readonly pid: number;
  kill(): Promise<void>;
}

/** The gateway as people start it, in this folder. Answers once it takes requests. */
async function start(redisUrl: string, copy: string, folder: string): Promise<Started> {
  writeFileSync(join(folder, 'gateway.yaml'), SETTINGS(copy));
  const env = {
    REDIS_URL: redisUrl,
    STORE_URL: storeUrl,
    STOREGATE_CONFIG: 'gateway.yaml',
    STOREGATE_PORT: '0',
    STOREGATE_ADMIN_PORT: '0',
  };
  const { child, out, err, exit } = storegate(['serve', '--no-demo-keys'], { cwd: folder, env });
  const started = () => /^.*"msg":"started".*$/m.exec(out())?.[0];
  await until('it has started', () => started() !== undefined || child.exitCode !== null);
  if (!started()) throw new Error(`the gateway ended: ${err()}`);
  return {
    url: (JSON.parse(started()!) as { url: string }).url,
    pid: child.pid!,
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Waits for a sweep after the one that began at `before`; answers when it began. */
async function swept(folder: string, before: number): Promise<number> {
  const reader = new KeyCopyReader(folder, (error) => console.error(error));
  await until('a sweep is through', () => (reader.standing?.swept ?? 0) > before, PATIENCE);
  const { swept } = reader.standing!;
  reader.close();
  return swept;
}

/** The status of an answer to the key. */
async function ask({ url }: Started, secret: string): Promise<number> {
  const answer = await fetch(`${url}/categories`, { headers: { 'X-API-Key': secret } });
  await answer.arrayBuffer();
  return answer.status;
}

const row = (what: string, value: string) => console.log(`| ${what} | ${value} |`);
const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(1);
const mebibytes = (kilobytes: number) => (kilobytes / 1_024).toFixed(0);

const redis = await startRedis();
const secret = await fill(redis);
const folder = mkdtempSync(join(tmpdir(), 'storegate-'));
const data = join(folder, 'data');

const plainAt = Date.now();
const plain = await start(redis.url, 'enabled: false', folder);
await ask(plain, secret);
const usual = Date.now() - plainAt;
const without = usageOf(plain.pid);
await plain.kill();

const begun = Date.now();
const first = await start(redis.url, 'sweep: 1d', folder);
const sweep = await swept(data, 0);
const filled = usageOf(first.pid);
const bytes = ['', '-wal'].reduce((sum, end) => sum + statSync(join(data, `${KEY_COPY}${end}`)).size, 0);
row('keys', `${KEYS}`);
row('bytes on disk for each key', (bytes / KEYS).toFixed(0));
row('start and first sweep, s', seconds(Date.now() - begun));
row('its processor time, s', `${seconds(filled.cpu)}; ${seconds(without.cpu)} of a start without a copy`);
row('RSS after it, MiB', `${mebibytes(filled.rss)}; ${mebibytes(without.rss)} without a copy`);
await first.kill();

const again = await start(redis.url, 'sweep: 1d', folder);
await swept(data, sweep);
const later = usageOf(again.pid);
row('processor time of a start and a sweep that finds no change, s', seconds(later.cpu));
row('RSS after it, MiB', mebibytes(later.rss));
await again.kill();
await redis.stop();

const coldAt = Date.now();
const cold = await start(redis.url, 'sweep: 1d', folder);
const status = await ask(cold, secret);
row(
  'first answer after a start without Redis, s',
  `${seconds(Date.now() - coldAt)} (${status}); with Redis ${seconds(usual)}`,
);
row('RSS then, MiB', mebibytes(usageOf(cold.pid).rss));
await cold.kill();
rmSync(folder, { recursive: true, force: true });
store.close();
