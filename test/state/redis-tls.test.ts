import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { RedisSettings } from '../../src/config/config.ts';
import { Authority } from '../support/certificates.ts';
import { commandLine } from '../support/command-line.ts';
import { freePort } from '../support/free-port.ts';
import { openShared } from '../support/redis/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';

import { finished } from '../support/storegate.ts';
import { until } from '../support/until.ts';

let authority: Authority;
let folder: string;
const servers: RedisServer[] = [];

beforeAll(() => {
  authority = new Authority();
  folder = mkdtempSync(join(tmpdir(), 'storegate-tls-'));
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => {
  authority.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a server that answers TLS, and resolves with its port. */
async function startTls(
  names: string,
  { args = [], ...options }: Parameters<typeof startRedis>[0] = {},
) {
  const port = await freePort();
  servers.push(
    await startRedis({ ...options, args: [...authority.redisArgs(port, names), ...args] }),
  );
  return port;
}

describe('a gateway that trusts the CA', () => {
  let trusted: string[];
  beforeAll(() => {
    trusted = getCACertificates('default');
    setDefaultCACertificates([...trusted, authority.pem]);
  });
  afterAll(() => setDefaultCACertificates(trusted));

  async function counts(
    settings: Partial<RedisSettings> & { readonly url: string },
  ): Promise<void> {
    const gateway = await openShared(settings);
    try {
      const windows = [{ name: 'minute', kind: 'fixed' as const, limit: 1, span: 60_000 }];
      const verdicts = [];
      for (let i = 0; i < 2; i++)
        verdicts.push(
          (await gateway.state.admit('key:1', { windows, escalation: null }, 1)).verdict,
        );
      expect(verdicts).toEqual(['admitted', 'limited']);
      expect(gateway.eventCount('state.outage')).toBe(0);
    } finally {
      await gateway.close();
    }
  }

  test('reaches all nodes of a Cluster, which are known by address, under the name of the URL', async () => {
    const args = [
      '--cluster-enabled',
      'yes',
      '--tls-cluster',
      'yes',
      '--cluster-announce-ip',
      '127.0.0.1',
    ];
    const port = await startTls('DNS:localhost', { args, port: await freePort() });
    const { admin } = servers[0]!;
    await admin.cluster('ADDSLOTSRANGE', 0, 16_383);
    await until('the Cluster serves', async () =>
      ((await admin.cluster('INFO')) as string).includes('cluster_state:ok'),
    );
    await counts({ url: `rediss://localhost:${port}`, topology: 'cluster' });
  });

  describe('and asks a Sentinel', () => {
    const PASSWORDS = { redis: `r${Math.random()}`, sentinel: `s${Math.random()}` };
    const settings = { topology: 'sentinel', sentinelPassword: PASSWORDS.sentinel } as const;

    async function startSentinel(names: string): Promise<string> {
      const master = await startTls('IP:127.0.0.1', { password: PASSWORDS.redis });
      const file = join(folder, 'sentinel.conf');
      const lines = [
        `sentinel monitor mymaster 127.0.0.1 ${master} 1`,
        `sentinel auth-pass mymaster ${PASSWORDS.redis}`,
        `requirepass ${PASSWORDS.sentinel}`,
      ];
      writeFileSync(file, lines.join('\n'));
      const port = await startTls(names, { sentinel: file, password: PASSWORDS.sentinel });
      return `rediss://:${PASSWORDS.redis}@localhost:${port}`;
    }

    test('takes its password for the Sentinel, that of the URL for the master, TLS for both, each by its own name', async () => {
      await counts({ url: await startSentinel('DNS:localhost'), ...settings });
    });

    test.each([
      ['none', null, 'wants a password: put it into redis.sentinelPassword'],
      ['a wrong one', 'wrong', 'refuses the user or password: check redis.sentinelPassword'],
    ])(
      'reports at once that the Sentinel wants a password, with %s',
      async (_, sentinelPassword, message) => {
        const url = await startSentinel('DNS:localhost');
        const { host } = new URL(url);
        await expect(openShared({ url, ...settings, sentinelPassword })).rejects.toThrow(
          `the Sentinel at ${host} ${message}`,
        );
      },
    );

    test('does not ask one with the certificate of another', async () => {
      const url = await startSentinel('DNS:elsewhere.example');
      await expect(openShared({ url, ...settings })).rejects.toThrow('no Sentinel can be reached');
    });
  });
});

describe('a command on rediss://', () => {
  /** Node reads that variable when a process starts. */
  const trusting = (url: string) =>
    finished(['keys', 'list'], {
      cwd: folder,
      env: { REDIS_URL: url, NODE_EXTRA_CA_CERTS: authority.file },
    });

  test('works where its certificate comes from a CA in NODE_EXTRA_CA_CERTS', async () => {
    const url = `rediss://127.0.0.1:${await startTls('IP:127.0.0.1')}`;
    expect(await trusting(url)).toEqual({ code: 0, out: 'No keys.\n', err: '' });
  });

  test('fails at once if the certificate is not signed by a trusted authority', async () => {
    const where = `localhost:${await startTls('DNS:localhost')}`;
    const env = { REDIS_URL: `rediss://${where}` };
    expect(await commandLine(folder)(['keys', 'list'], { env })).toEqual({
      code: 1,
      out: '',
      err: `cannot trust the certificate of Redis at ${where} (self-signed certificate in certificate chain SELF_SIGNED_CERT_IN_CHAIN): name its CA's file in NODE_EXTRA_CA_CERTS\n`,
    });
  });

  test('ends at once where the certificate has another name', async () => {
    const where = `127.0.0.1:${await startTls('DNS:localhost')}`;
    const { code, err } = await trusting(`rediss://${where}`);
    expect(code).toBe(1);
    expect(err).toContain(`cannot use Redis at ${where}: the certificate is for another host name`);
    expect(err).not.toContain('Warning');
  });
});
