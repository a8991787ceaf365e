import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { httpFetch } from '../../src/common/http-fetch.ts';
import { Authority } from '../support/certificates.ts';
import { failure } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { startProxy, type TcpProxy } from '../support/redis/proxy.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { GatewayWithWorkers } from '../support/workers.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';
import { alerts } from './shipped.ts';
import { shortRule, shortRules } from './short-rules.ts';

const PLANS = 'plans:\n  enterprise: { custom: true }\n';
const SETTINGS = `plans: { file: plans.yaml }
redis: { deadline: 2s, failureThreshold: 1 }
upstream: { healthChecks: { path: /, interval: 500ms } }
`;
const NAMES = 'IP:127.0.0.1';
/** Milliseconds. The health of a gateway counts failed requests of the last minute. */
const PATIENCE = 200_000;
/** A busy machine delays everything, so these may fire at any time. */
const OF_LATENCY = ['StoregateEventLoopLag', 'StoregateStateSlow', 'StoregateBackendSlow'];

const GATEWAYS = ['one', 'two', 'three'] as const;
type Name = (typeof GATEWAYS)[number];

interface Labels {
  readonly alertname: string;
  readonly instance?: string;
}

interface ActiveAlert {
  readonly labels: Labels;
  readonly state: string;
}

interface Vector {
  readonly result: readonly { readonly metric: Labels; readonly value: [number, string] }[];
}

/** A fault, and alerts by name and gateway. */
interface Fault {
  readonly begin: () => unknown;
  readonly end: () => unknown;
  /** Alerts that fire while it lasts. */
  readonly fires: readonly string[];
  /**
   * Alerts that may fire for a while: in a short window one failed request is a high rate, and the
   * health is Degraded on its way from Down to OK.
   */
  readonly mayFire?: readonly string[];
}

const atAll = (...names: readonly string[]): string[] =>
  names.flatMap((alert) => GATEWAYS.map((gateway) => `${alert} ${gateway}`));

test.each([
  [
    'sum(rate(a_total[5m])) and a_total offset 15m',
    '10m',
    'sum(rate(a_total[7500ms])) and a_total offset 22500ms',
    '10000ms',
  ],
  [
    'max_over_time(b[1h:1m]) > 7 * 86400',
    '1m',
    'max_over_time(b[90000ms:1500ms]) > 7 * 86400',
    '1500ms',
  ],
])('a rule with %s keeps all but its durations', (expr, span, shortExpr, shortSpan) => {
  const rule = { alert: 'A', expr, for: span, labels: {} };
  expect(shortRule(rule)).toEqual({ ...rule, expr: shortExpr, for: shortSpan });
});

describe('the alerts of a Prometheus that scrapes three gateways on one Redis', () => {
  const folderOf = temporaryFolders({ keep: true });
  const authority = new Authority();
  const running = new Map<Name, GatewayWithWorkers>();
  const adminPorts = new Map<number, Name>();
  let redis: RedisServer;
  let redisProxy: TcpProxy;
  let backend: FakeBackend;
  let backendProxy: TcpProxy;
  let prometheus: Prometheus;
  let traffic: Traffic;
  const pair = { cert: '', key: '' };

  beforeAll(async () => {
    redis = await startRedis();
    redisProxy = await startProxy(redis.port);
    backend = await fakeBackend((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('[]');
    });
    backendProxy = await startProxy(Number(new URL(backend.url).port));
    const folder = folderOf();
    pair.cert = join(folder, 'tls.crt');
    pair.key = join(folder, 'tls.key');
    useCertificate(authority.issue('long', NAMES, 90));
    for (const name of GATEWAYS) adminPorts.set(await freePort(), name);
    await Promise.all(GATEWAYS.map((name) => start(name)));
    const { key } = await running.get('one')!.key('1000000/day');
    traffic = new Traffic(key);
    const targets = [...adminPorts.keys()].map((port) => `http://127.0.0.1:${port}`);
    prometheus = await startPrometheus(targets, shortRules());
    await until('every gateway is scraped', async () => {
      const { result } = (await prometheus.ask('query?query=sum(up)')) as Vector;
      return result[0]?.value[1] === `${GATEWAYS.length}`;
    });
  });
  afterAll(async () => {
    await traffic?.stop();
    await prometheus?.stop();
    await Promise.all([...running.values()].map((gateway) => gateway.stop()));
    await redisProxy?.stop();
    await redis?.stop();
    await backendProxy?.stop();
    await backend?.close();
    authority.remove();
  });

  async function start(name: Name): Promise<void> {
    const [port] = [...adminPorts].find(([, other]) => other === name)!;
    const folder = join(folderOf(), name);
    mkdirSync(folder);
    const gateway = await GatewayWithWorkers.start({
      redisUrl: redisProxy.url,
      backendUrl: backendProxy.url.replace('redis:', 'http:'),
      workers: 1,
      folder,
      files: { 'gateway.yaml': SETTINGS, 'plans.yaml': PLANS },
      env: {
        STOREGATE_ADMIN_PORT: `${port}`,
        ...(name === 'two' && { STOREGATE_TLS_CERT: pair.cert, STOREGATE_TLS_KEY: pair.key }),
      },
    });
    running.set(name, gateway);
  }

  function useCertificate({ cert, key }: typeof pair): void {
    copyFileSync(key, pair.key);
    copyFileSync(cert, pair.cert);
  }

  const writePlans = (text: string) => running.get('one')!.write('plans.yaml', text);
  const nameOf = ({ alertname, instance = '' }: Labels): string =>
    `${alertname} ${adminPorts.get(Number(instance.split(':')[1])) ?? ''}`.trim();
  const existing = (all: readonly Labels[]): string[] =>
    [...new Set(all.filter(({ alertname }) => !OF_LATENCY.includes(alertname)).map(nameOf))].sort();

  async function firing(): Promise<string[]> {
    const response = (await prometheus.ask('alerts')) as { alerts: readonly ActiveAlert[] };
    return existing(
      response.alerts.filter(({ state }) => state === 'firing').map((one) => one.labels),
    );
  }

  async function firedSince(start: number): Promise<string[]> {
    const seconds = Math.floor((performance.now() - start) / 1_000);
    const query = `last_over_time(ALERTS{alertstate="firing"}[${seconds}s])`;
    const response = (await prometheus.ask(`query?query=${encodeURIComponent(query)}`)) as Vector;
    return existing(response.result.map(({ metric }) => metric));
  }

  async function untilFiring(expected: readonly string[]): Promise<void> {
    let seen: string[] = [];
    const isSame = async () => {
      seen = await firing();
      return JSON.stringify(seen) === JSON.stringify([...expected].sort());
    };
    const what = `exactly ${expected.join(', ') || 'no alert'}`;
    await until(what, isSame, PATIENCE).catch((error: Error) => {
      throw failure(`${error.message}; firing: ${seen.join(', ')}`);
    });
  }

  const faults: Readonly<Record<string, Fault>> = {
    'a mistake in a file of one, a certificate of two that ends tomorrow, and the end of three': {
      async begin() {
        writePlans('plans: 7\n');
        useCertificate(authority.issue('short', NAMES));
        await running.get('three')!.kill();
      },
      async end() {
        writePlans(PLANS);
        useCertificate(authority.issue('renewed', NAMES, 90));
        await start('three');
      },
      fires: [
        'StoregateReloadRefused one',
        'StoregateHealthDegraded one',
        'StoregateCertificateEnds two',
        'StoregateHealthDegraded two',
        'StoregateDown three',
      ],
    },
    'a Redis that cannot be reached': {
      begin: () => redisProxy.shut(),
      end: () => redisProxy.admit(),
      fires: atAll('StoregateStateDown', 'StoregateConnectionLost', 'StoregateHealthDegraded'),
    },
    'a backend that is down': {
      begin: () => backendProxy.shut(),
      end: () => backendProxy.admit(),
      fires: atAll('StoregateBackendsDown', 'StoregateHealthDown', 'StoregateErrors'),
      mayFire: atAll('StoregateBackendFailing', 'StoregateHealthDegraded'),
    },
  };

  test.each(Object.keys(faults))(
    'fire for %s, and resolve afterwards',
    async (name) => {
      const { begin, end, fires, mayFire = [] } = faults[name]!;
      await untilFiring([]);
      const begun = performance.now();
      await begin();
      await untilFiring(fires);
      await end();
      await untilFiring([]);
      const fired = await firedSince(begun);
      expect(fired.filter((alert) => !mayFire.includes(alert))).toEqual([...fires].sort());
    },
    3 * PATIENCE,
  );

  /** A few requests per second to each gateway that runs. */
  class Traffic {
    readonly #headers: Readonly<Record<string, string>>;
    readonly #timer = setInterval(() => this.#send(), 400);
    readonly #waiting = new Set<Promise<void>>();

    constructor(key: string) {
      this.#headers = { 'X-API-Key': key };
    }

    #send(): void {
      for (const gateway of running.values()) {
        const sent = this.#get(gateway).finally(() => this.#waiting.delete(sent));
        this.#waiting.add(sent);
      }
    }

    async #get({ url }: GatewayWithWorkers): Promise<void> {
      const options = { headers: this.#headers };
      const pets = `${url}/pets`;
      const response = url.startsWith('https:')
        ? httpFetch(pets, { tls: { ca: authority.pem } }, options)
        : fetch(pets, options);
      // A gateway that was killed does not respond.
      await response.then((one) => one.text()).catch(() => {});
    }

    async stop(): Promise<void> {
      clearInterval(this.#timer);
      await Promise.all(this.#waiting);
    }
  }
});

test('all alerts that the live test leaves out exist', () => {
  const names = alerts.map(({ alert }) => alert);
  expect(OF_LATENCY.filter((name) => !names.includes(name))).toEqual([]);
});
