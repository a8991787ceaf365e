import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import {
  Agent,
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Proxy as RunningProxy, startProxy, Tap } from '../hostile/proxies.ts';
import { isDeep } from '../runner/fast-check.ts';
import { freePort } from '../support/free-port.ts';
import { TestGateway } from '../support/gateway.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend, upgradingBackend } from '../support/upstream.ts';

/** Addresses of the two gateways, which have the same ports, as on two machines. */
const HOSTS = ['127.0.0.11', '127.0.0.12'] as const;
const REQUESTS = 200;
/** Smaller bodies are forwarded when they are whole. */
const LARGE = Buffer.alloc(3 << 19);

type Name = 'nginx' | 'haproxy' | 'caddy';
const FILES: Readonly<Record<Name, string>> = {
  nginx: 'nginx.conf',
  haproxy: 'haproxy.cfg',
  caddy: 'Caddyfile',
};

let redis: RedisServer;
let backend: FakeBackend;
let target: FakeBackend;
let held: ServerResponse[];
let gateways: TestGateway[];
let port: number;
let adminPort: number;
let key: string;

/** The shipped file, with the addresses of this test alone. */
function shipped(name: Name, listen: number): string {
  return readFileSync(resolve(import.meta.dirname, '../../deploy', FILES[name]), 'utf8')
    .replace(
      /^(\s*(?:bind |listen |http:\/\/)):?8080/m,
      (_, before) => `${before}127.0.0.1:${listen}`,
    )
    .replace(/gateway-([12]):8080/g, (_, number) => `${HOSTS[Number(number) - 1]}:${port}`)
    .replaceAll('9901', `${adminPort}`);
}

function startShipped(name: Name): Promise<RunningProxy> {
  return startProxy(name, (folder, listen) => {
    const file = join(folder, FILES[name]);
    const config = shipped(name, listen);
    writeFileSync(
      file,
      name === 'nginx' ? `events {}\nhttp {\naccess_log off;\n${config}}\n` : config,
    );
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    return {
      nginx: [
        '-p',
        folder,
        '-e',
        'stderr',
        '-c',
        file,
        '-g',
        `${user} daemon off; master_process off; pid ${folder}/pid;`,
      ],
      haproxy: ['-db', '-f', file],
      caddy: ['run', '--adapter', 'caddyfile', '--config', file],
    }[name];
  });
}

interface Asked {
  readonly agent?: Agent | false;
  readonly from?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

function open(
  url: string,
  { agent = false, from = '127.0.0.1', method = 'GET', headers = {} }: Asked = {},
): ClientRequest {
  return request(url, {
    agent,
    method,
    localAddress: from,
    headers: { 'X-API-Key': key, ...headers },
  });
}

async function ask(
  url: string,
  requested?: Asked,
): Promise<{ status: number; headers: IncomingMessage['headers'] }> {
  const [response] = (await once(open(url, requested).end(), 'response')) as [IncomingMessage];
  await text(response);
  return { status: response.statusCode!, headers: response.headers };
}

const suite = isDeep ? describe : describe.skip;

suite.each(Object.keys(FILES) as Name[])('two gateways behind %s', (name) => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    held = [];
    redis = await startRedis();
    backend = await fakeBackend((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
    target = await upgradingBackend((_, response) => void held.push(response.writeHead(200)));
    [port, adminPort] = [await freePort(), await freePort()];
    const settings = {
      redis: { deadline: '10s' },
      contract: { file: 'none' },
      http: {
        drainDelay: '2s',
        trustedProxies: ['127.0.0.1/32'],
        authFailureLimit: { failures: 3 },
        bodyBudget: '16MiB',
      },
      apis: [
        {
          name: 'live',
          path: '/live',
          contract: 'none',
          stripPath: false,
          target: target.url,
          websocket: true,
          http: { maxBodyBytes: '2MiB' },
        },
      ],
    };
    const ports = {
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      REDIS_URL: redis.url,
    };
    gateways = [];
    for (const host of HOSTS) {
      const env = { ...ports, STOREGATE_HOST: host, STOREGATE_ADMIN_HOST: host };
      gateways.push(
        await TestGateway.start({
          settings: JSON.stringify(settings),
          backendUrl: backend.url,
          env,
        }),
      );
    }
    const windows = [{ name: 'day', kind: 'fixed', limit: 1_000_000, span: 86_400_000 }] as const;
    key = (await gateways[0]!.key({ plan: 'business', windows })).secret;
    proxy = await startShipped(name);
    await until('it forwards', async () => (await ask(`${proxy.url}/pets`)).status === 200);
  });
  afterAll(async () => {
    await proxy?.stop();
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await Promise.all([backend.close(), target.close(), redis.stop()]);
  });

  const logged = (address: string) =>
    gateways
      .flatMap(({ log }) => log)
      .filter((line) => line.msg === 'request' && line.address === address);

  test('know the address of the client, which cannot choose it', async () => {
    const forged = { 'X-Forwarded-For': '198.51.100.7', Forwarded: 'for=198.51.100.7' };
    expect((await ask(`${proxy.url}/pets`, { from: '127.0.0.21', headers: forged })).status).toBe(
      200,
    );
    await until('it is logged', () => logged('127.0.0.21').length === 1);
    expect(logged('198.51.100.7')).toEqual([]);
  });

  test('limit each address, with the headers that they send without it', async () => {
    const guess = (url: string, from: string) =>
      ask(url, { from, headers: { 'X-API-Key': 'guessed' } });
    const limited = async (url: string, from: string) => {
      let last = await guess(url, from);
      await until('the address is limited', async () => {
        last = await guess(url, from);
        return last.status === 429;
      });
      return last.headers;
    };
    const headers = await limited(`${proxy.url}/pets`, '127.0.0.22');
    expect((await guess(`${proxy.url}/pets`, '127.0.0.23')).status).toBe(401);
    const ofGateway = await limited(`${gateways[0]!.url}/pets`, '127.0.0.24');
    expect(ofGateway).toHaveProperty('retry-after');
    const perConnection = ['connection', 'keep-alive', 'date', 'x-request-id'];
    for (const header of Object.keys(ofGateway).filter((one) => !perConnection.includes(one)))
      expect(Object.keys(headers)).toContain(header);
  });

  test('get headers of nearly 16 KiB', async () => {
    const large = (bytes: number) =>
      ask(`${proxy.url}/pets`, { headers: { 'X-Large': 'x'.repeat(bytes) } });
    expect((await large(15_000)).status).toBe(200);
  });

  test('stream bodies and responses piece by piece', async () => {
    const before = target.seen.length;
    const sending = open(`${proxy.url}/live/upload`, { method: 'POST' });
    sending.write(LARGE);
    await until('the target has the request', () => target.seen.length > before && held.length > 0);
    const received = target.seen.at(-1)!;
    let size = 0;
    received.on('data', (piece: Buffer) => {
      size += piece.length;
    });
    await until('it has the first piece', () => size === LARGE.length);
    const reply = held.pop()!;
    reply.write('early');
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    const [early] = (await once(response, 'data')) as [Buffer];
    expect(`${early}`).toBe('early');
    const all = once(received, 'end');
    sending.end('last');
    await all;
    reply.end();
    await text(response);
  });

  test('forward a WebSocket', async () => {
    const headers = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': Buffer.from('x'.repeat(16)).toString('base64'),
    };
    const upgrading = open(`${proxy.url}/live/feed`, { headers }).end();
    upgrading.on('response', ({ statusCode }) =>
      upgrading.destroy(new Error(`not upgraded: ${statusCode}`)),
    );
    const [response, socket] = await once(upgrading, 'upgrade');
    expect(response.statusCode).toBe(101);
    socket.write('ping');
    const [echo] = await once(socket, 'data');
    expect(`${echo}`).toBe('ping');
    socket.destroy();
  });

  test('fail and repeat no request while one of them restarts', async () => {
    const before = backend.seen.length;
    const outcomes = new Map<string | number, number>();
    let sent = 0;
    let restarted = false;
    const calls = Array.from({ length: 6 }, async (_, caller) => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (sent < REQUESTS || !restarted) {
        sent++;
        const outcome = await ask(`${proxy.url}/pets`, {
          agent,
          method: caller % 2 ? 'POST' : 'GET',
        }).then(
          ({ status }) => status,
          (error: NodeJS.ErrnoException) => error.code ?? error.message,
        );
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
      agent.destroy();
    });
    await until('requests are answered', () => sent > 20);
    const other = gateways[1]!;
    await other.close();
    await other.open();
    const requests = () => other.log.filter(({ msg }) => msg === 'request').length;
    const atRestart = requests();
    await until('the proxy uses it again', () => requests() > atRestart);
    restarted = true;
    await Promise.all(calls);
    expect([...outcomes]).toEqual([[200, sent]]);
    expect(backend.seen).toHaveLength(before + sent);
  });
});

/** Caddy is not installed everywhere. */
const STREAMING: readonly Name[] = isDeep ? ['nginx', 'haproxy', 'caddy'] : ['nginx', 'haproxy'];
const EVENTS = 10;
/** Requests through the same proxy after each event. */
const LATER = 5;

describe.each(STREAMING)('an event stream behind %s', (name) => {
  let proxy: RunningProxy;
  let plain: Tap;
  let servers: Server[];
  let streams: ServerResponse[];
  beforeAll(async () => {
    [port, adminPort, key] = [await freePort(), await freePort(), 'any'];
    streams = [];
    servers = [];
    for (const host of HOSTS) {
      const server = createServer(({ url }, response) => {
        if (url !== '/events') return void response.end();
        streams.push(response.writeHead(200, { 'Content-Type': 'text/event-stream' }));
        response.flushHeaders();
      });
      // The admin listener is up too.
      const admin = createServer((_, response) => void response.end());
      servers.push(server.listen(port, host), admin.listen(adminPort, host));
    }
    await Promise.all(servers.map((server) => once(server, 'listening')));
    proxy = await startShipped(name);
    plain = await Tap.start(`http://${HOSTS[0]}:${port}`);
    await until('it forwards', async () => (await ask(`${proxy.url}/pets`)).status === 200);
  });
  afterAll(async () => {
    await proxy?.stop();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await plain?.stop();
  });

  /** The number of the last event that has arrived. */
  async function listenTo(url: string): Promise<{ last: number }> {
    const [response] = (await once(open(`${url}/events`).end(), 'response')) as [IncomingMessage];
    const arrived = { last: 0 };
    response.on('data', (bytes: Buffer) => {
      arrived.last = Number(/(\d+)\n\n$/.exec(`${bytes}`)?.[1] ?? arrived.last);
    });
    // The connection ends with the test.
    response.on('error', () => {});
    return arrived;
  }

  test('brings each event before the next one is sent, as a plain relay does', async () => {
    const shipped = await listenTo(proxy.url);
    const direct = await listenTo(plain.url);
    expect(streams).toHaveLength(2);
    for (let event = 1; event <= EVENTS; event++) {
      for (const stream of streams) stream.write(`data: ${event}\n\n`);
      for (let i = 0; i < LATER; i++) await ask(`${proxy.url}/pets`);
      expect({ shipped: shipped.last, direct: direct.last }).toEqual({
        shipped: event,
        direct: event,
      });
    }
  });
});

/** nginx has no checks. */
const CHECKING: readonly Name[] = isDeep ? ['haproxy', 'caddy'] : ['haproxy'];

describe.each(CHECKING)('behind %s', (name) => {
  const servers: Server[] = [];
  let proxy: RunningProxy | undefined;
  afterAll(async () => {
    await proxy?.stop();
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });

  async function listen(host: string, on: number, response: RequestListener): Promise<void> {
    const server = createServer(response).listen(on, host);
    servers.push(server);
    await once(server, 'listening');
  }

  test('gateways that need 600 ms for their readiness get all requests', async () => {
    [port, adminPort, key] = [await freePort(), await freePort(), 'any'];
    const checks = new Map<string, number>();
    for (const host of HOSTS) {
      await listen(host, port, (_, response) => void response.end());
      await listen(host, adminPort, (_, response) => {
        response.on('close', () => checks.set(host, (checks.get(host) ?? 0) + 1));
        setTimeout(() => response.end(), 600);
      });
    }
    proxy = await startShipped(name);
    const { url } = proxy;
    // Two failed checks end a gateway's requests.
    await until('enough checks have ended', () =>
      HOSTS.every((host) => (checks.get(host) ?? 0) > 2),
    );
    const responses = await Promise.all(Array.from({ length: 25 }, () => ask(`${url}/pets`)));
    expect([...new Set(responses.map(({ status }) => status))]).toEqual([200]);
  });
});
