import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { patientText } from '../support/deadlines.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { FakeSystemd } from '../support/systemd.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { get } from '../support/workers.ts';

const temporary = temporaryFolders({ keep: true });
const REQUESTS = 200;
const TOKEN = 'a-token-of-operators-0123456789abcdef';

let redis: RedisServer;
let backend: FakeBackend;

beforeAll(async () => {
  program('systemd-notify');
  redis = await startRedis();
  backend = await fakeBackend((_request, response) => void response.end('{}'));
});
afterAll(async () => {
  await backend.close();
  await redis.stop();
});

/** Shared by all tests of a block, because a start with workers is three processes. */
function serviceForBlock(
  names: string,
  env: () => Readonly<Record<string, string>>,
): () => FakeSystemd {
  let service: FakeSystemd;
  beforeAll(async () => {
    const folder = temporary();
    writeFileSync(join(folder, 'gateway.yaml'), patientText(''));
    service = await FakeSystemd.start(folder, names, {
      BACKEND_URL: backend.url,
      STOREGATE_HOST: '127.0.0.1',
      STOREGATE_PORT: '1',
      STOREGATE_ADMIN_PORT: '0',
      STOREGATE_DATA: join(folder, 'data'),
      ...env(),
    });
  });
  afterAll(() => service?.stop());
  return () => service;
}

const urlOf = ({ ports }: FakeSystemd, name: string) => `http://127.0.0.1:${ports.get(name)}`;

function workersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
    .trim()
    .split(' ')
    .map(Number);
  // A process of systemd-notify may have ended.
  const commandOf = (child: number) =>
    spawnSync(program('ps'), ['-o', 'args=', '-p', `${child}`], { encoding: 'utf8' });
  return children.filter((child) => /worker\.[jt]s/.test(commandOf(child).stdout));
}

function socketsOf(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch (error) {
      // Closed since the folder was read.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  });
}

describe('one process under systemd', () => {
  const running = serviceForBlock('admin:public', () => ({ STOREGATE_ADMIN_TOKEN: TOKEN }));

  test('uses the sockets with their names for both listeners', async () => {
    const service = running();
    const ready = await get(`${urlOf(service, 'admin')}/health/ready`);
    expect(ready.status).toBe(200);
    expect((await get(`${urlOf(service, 'public')}/health/ready`)).status).toBe(401);
    expect(service.notes[0]).toBe(`READY=1 & STATUS=Serving ${urlOf(service, 'public')}`);
  });

  test('sends messages from one process without secrets and sockets, and reports its end', async () => {
    const service = running();
    const children = () =>
      readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'latin1').trim();
    const sender = Number(children());
    const before = service.noted('WATCHDOG=1').length;
    await until('it has sent some messages', () => service.noted('WATCHDOG=1').length > before + 2);
    expect(Number(children())).toBe(sender);
    const variables = readFileSync(`/proc/${sender}/environ`, 'latin1').split('\0').slice(0, -1);
    expect(variables.map((variable) => variable.split('=')[0]).sort()).toEqual([
      'NOTIFY_SOCKET',
      'PATH',
    ]);
    const inherited = [3, 4].map((fd) => readlinkSync(`/proc/${service.pid}/fd/${fd}`));
    for (const socket of inherited) expect(socketsOf(sender)).not.toContain(socket);
    process.kill(sender, 'SIGKILL');
    await until('its end is reported', () => service.err !== '');
    expect(service.err).toBe('systemd gets no messages: their process ended with SIGKILL\n');
    process.kill(service.pid, 'SIGTERM');
    expect(await service.ended()).toBe(0);
    await service.startService();
  });

  test('sends no watchdog message while its primary process hangs', async () => {
    const service = running();
    const before = service.noted('WATCHDOG=1').length;
    await until('it has sent some', () => service.noted('WATCHDOG=1').length > before + 2);
    process.kill(service.pid, 'SIGUSR2');
    await until('it hangs', () => service.err.includes('hangs'));
    // A message sent before may still arrive. Twenty intervals without another one.
    let [count, quietSince] = [0, performance.now()];
    await until('no message arrives', () => {
      const now = service.noted('WATCHDOG=1').length;
      if (now !== count) [count, quietSince] = [now, performance.now()];
      return performance.now() - quietSince > 2_000;
    });
  });
});

describe('two workers under systemd', () => {
  const running = serviceForBlock('public', () => ({
    STOREGATE_WORKERS: '2',
    REDIS_URL: redis.url,
  }));

  test('reports a reload with its time, and is ready after it', async () => {
    const service = running();
    const began = process.hrtime.bigint() / 1_000n;
    const before = service.noted('READY=1').length;
    process.kill(service.pid, 'SIGHUP');
    await until('it is ready again', () => service.noted('READY=1').length > before);
    const [reloading] = service.noted('RELOADING=1');
    const at = BigInt(/MONOTONIC_USEC=(\d+)/.exec(reloading!)![1]!);
    expect(at).toBeGreaterThanOrEqual(began);
    expect(at).toBeLessThanOrEqual(process.hrtime.bigint() / 1_000n);
    expect(service.notes.indexOf(reloading!)).toBeLessThan(
      service.notes.findLastIndex((one) => one.includes('READY=1')),
    );
  });

  test('refuses none of 200 requests during a restart', async () => {
    const service = running();
    const url = `${urlOf(service, 'public')}/docs/`;
    const first = service.pid;
    let sent = 0;
    const failures: unknown[] = [];
    let restarted = false;
    const callers = Array.from({ length: 4 }, async () => {
      // At least 200, and until the new process has answered some.
      for (; sent < REQUESTS || !restarted; await pause(5)) {
        sent++;
        await get(url).then(
          ({ status }) => status >= 500 && failures.push(status),
          (error: unknown) => failures.push(error),
        );
      }
    });
    await until('requests are answered', () => sent > 20);
    process.kill(first, 'SIGTERM');
    expect(await service.ended(first)).toBe(0);
    await service.startService();
    restarted = true;
    await Promise.all(callers);
    expect(failures).toEqual([]);
    expect(sent).toBeGreaterThanOrEqual(REQUESTS);
    expect(service.noted('STOPPING=1')).toHaveLength(1);
  });

  test('passes neither sockets nor variables to workers, and exits if it has lost all of them', async () => {
    const service = running();
    const listening = readlinkSync(`/proc/${service.pid}/fd/3`);
    expect(listening).toMatch(/^socket:/);
    const workers = workersOf(service.pid);
    expect(workers).toHaveLength(2);
    for (const worker of workers) {
      expect(readFileSync(`/proc/${worker}/environ`, 'latin1')).not.toMatch(
        /LISTEN_|WATCHDOG_|NOTIFY_/,
      );
      expect(socketsOf(worker)).not.toContain(listening);
    }
    // So that systemd starts another one with the socket, which node:cluster closed with the last
    // worker.
    for (const worker of workers) process.kill(worker, 'SIGKILL');
    expect(await service.ended()).toBe(1);
    await service.startService();
    expect((await get(`${urlOf(service, 'public')}/docs/`)).status).toBe(200);
  });
});
