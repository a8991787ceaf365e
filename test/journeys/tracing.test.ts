import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Collector } from '../support/collector.ts';
import { type Fault, FaultyBackend, resets, responses } from '../support/faulty-backend.ts';
import { TestGateway } from '../support/gateway.ts';
import { type Running, SOURCE_MAIN, storegate } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SAMPLED = `00-${TRACE}-${CALLER}-01`;
const OTHER = '5bf92f3577b34da6a3ce929d0e0e4737';
/** Of a trace that begins here: sampled, with a random id. */
const SAMPLED_BY_US = '03';
const SOON = 'batch: { scheduleDelay: 20ms }, timeout: 1s';

const folder = temporaryFolders();
let collector: Collector | null = null;
let backend: FakeBackend | null = null;
let gateway: TestGateway | null = null;

afterEach(async () => {
  await gateway?.stop();
  await backend?.close();
  await collector?.close();
  gateway = backend = collector = null;
});

/** Loaded first, it makes a process print each OpenTelemetry module that it loads. */
const SPY = `
  import { registerHooks } from 'node:module';
  const report = (url) => url.includes('@opentelemetry') && process.stderr.write(url + '\\n');
  registerHooks({ load: (url, context, next) => (report(url), next(url, context)) });`;
const SPYING = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SPY)}` };

const loadedBy = ({ err }: Running) => [...new Set(err().match(/@opentelemetry\/[a-z-]+/g) ?? [])];

interface Setting {
  readonly settings?: string;
  /** More of gateway.yaml, by the URL of the backend. */
  readonly more?: (backendUrl: string) => string;
  readonly env?: Record<string, string>;
}

/** Its backend refuses `/pets/7`, and breaks the connection at `/pets/8`. */
async function traced({ settings = '', more = () => '', env = {} }: Setting = {}) {
  collector = await Collector.start();
  backend = await fakeBackend(({ url }, response) => {
    if (url!.endsWith('/7')) response.writeHead(404).end('{}');
    else if (url!.endsWith('/8')) response.destroy();
    else response.setHeader('Server-Timing', 'db;dur=3').end('[]');
  });
  gateway = await TestGateway.start({
    settings: `tracing: { ${SOON} ${settings} }\n${more(backend.url)}`,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env },
    backendUrl: backend.url,
  });
  return { collector, backend, gateway, key: await gateway.key() };
}

const lineOf = (gateway: TestGateway) => gateway.log.filter(({ msg }) => msg === 'request').at(-1)!;
const sentTo = (backend: FakeBackend) => backend.seen.at(-1)!.headers;

describe('spans', () => {
  test('have the stages of a request, its errors, and its attempts, and no data of the client', async () => {
    const { collector, backend, gateway, key } = await traced({
      more: (url) =>
        `apis: [{ name: files, path: /files, contract: none, stripPath: false, target: "${url}" }]`,
    });
    const send = (path: string, traceparent?: string) => {
      const request = gateway.client.get(path).set('X-API-Key', key.secret);
      return traceparent === undefined ? request : request.set('traceparent', traceparent);
    };
    await send('/pets?limit=1', SAMPLED).set('tracestate', 'congo=t61rcWkgMzE').expect(200);
    const { own, attempts } = await collector.trace(TRACE);
    expect(own).toMatchObject({
      name: 'GET /pets',
      parentSpanId: CALLER,
      traceState: 'congo=t61rcWkgMzE',
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/pets',
        'http.response.status_code': 200,
        'storegate.operation': 'listPets',
        'storegate.plan': 'free',
        'storegate.key_id': key.id,
        'storegate.verdict': 'admitted',
        'storegate.request_id': lineOf(gateway).id,
      },
      resource: {
        'service.name': 'storegate',
        'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    });
    expect(own.events.map(({ name }) => name)).toEqual([
      'authenticated',
      'admitted',
      'forwarded',
      'answered',
    ]);
    const times = [own.start, ...own.events.map(({ time }) => time), own.end];
    expect(times).toEqual([...times].sort((a, b) => (a < b ? -1 : 1)));
    expect(attempts).toHaveLength(1);
    const [attempt] = attempts;
    expect(attempt).toMatchObject({
      name: 'GET /pets',
      parentSpanId: own.spanId,
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.response.status_code': 200,
        'url.template': '/pets',
      },
    });
    expect(attempt!.start >= own.start && attempt!.end <= own.end).toBe(true);
    expect(sentTo(backend)).toMatchObject({
      traceparent: `00-${TRACE}-${attempt!.spanId}-01`,
      tracestate: 'congo=t61rcWkgMzE',
    });
    expect(lineOf(gateway)).toMatchObject({
      traceId: TRACE,
      traceparent: `00-${TRACE}-${own.spanId}-01`,
    });

    // A client that does not sample its trace.
    await send('/pets', `00-${OTHER}-${CALLER}-00`).expect(200);
    expect(sentTo(backend).traceparent).toMatch(
      new RegExp(`^00-${OTHER}-(?!${CALLER})[0-9a-f]{16}-00$`),
    );
    expect(lineOf(gateway)).toMatchObject({ traceId: OTHER });

    collector.spans.length = 0;
    const hidden = { 'User-Agent': 'hidden', Cookie: 'hidden' };
    for (const [path, status] of [
      ['/pets?limit=hidden', 400],
      ['/pets/7', 404],
      ['/pets/8', 502],
      ['/files/hidden', 200],
    ] as const)
      await send(path).set(hidden).expect(status);
    await gateway.client.get('/pets').set('X-API-Key', 'hidden').expect(401);
    const servers = () => collector.spans.filter(({ kind }) => kind === 2);
    await until('all come', () => servers().length === 5);
    const spansOf = (status: number) => {
      const own = servers().find(
        ({ attributes }) => attributes['http.response.status_code'] === status,
      )!;
      return [own, collector.spans.find(({ parentSpanId }) => parentSpanId === own.spanId)];
    };
    const failed = { status: 2, attributes: { 'error.type': 'upstream_error' } };
    const refused = (code: string) => ({ status: 0, attributes: { 'storegate.code': code } });
    expect(spansOf(400)).toEqual([expect.objectContaining({ name: 'GET /pets' }), undefined]);
    expect(spansOf(400)[0]).toMatchObject(refused('invalid_request'));
    expect(spansOf(404)).toMatchObject([
      { name: 'GET /pets/{petId}', status: 0 },
      { status: 2, attributes: { 'error.type': '404' } },
    ]);
    expect(spansOf(502)).toMatchObject([failed, failed]);
    expect(spansOf(401)[0]).toMatchObject({ name: 'GET', ...refused('invalid_api_key') });
    const [ofFiles, toTarget] = spansOf(200);
    expect(ofFiles).toMatchObject({
      name: 'GET /files/*',
      attributes: { 'http.route': '/files/*' },
    });
    expect(sentTo(backend).traceparent).toBe(
      `00-${toTarget!.traceId}-${toTarget!.spanId}-${SAMPLED_BY_US}`,
    );
    const text = JSON.stringify(collector.spans, (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    expect(text).not.toMatch(new RegExp(`hidden|client\\.address|${OTHER}`));
  });

  test('follow the variables of OpenTelemetry, compressed', async () => {
    const { collector, gateway, key } = await traced({
      settings: ', clientAddress: true',
      env: {
        OTEL_SERVICE_NAME: 'edge',
        OTEL_RESOURCE_ATTRIBUTES:
          'deployment.environment.name=a%20test,service.name=other,service.instance.id=one',
        OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20some-secret',
        OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      },
    });
    await gateway.client
      .get('/pets')
      .set('X-API-Key', key.secret)
      .set('traceparent', SAMPLED)
      .expect(200);
    const { own, attempts } = await collector.trace(TRACE);
    expect(own.attributes).toMatchObject({
      'client.address': '127.0.0.1',
      'http.response.status_code': 200,
    });
    expect(own.resource).toMatchObject({
      'service.name': 'edge',
      'deployment.environment.name': 'a test',
      'service.instance.id': 'one',
    });
    expect(attempts).toHaveLength(1);
    expect(collector.paths).toEqual(['/v1/traces']);
    expect(collector.heads[0]).toMatchObject({
      authorization: 'Bearer some-secret',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    });
    expect(JSON.stringify(gateway.log)).not.toContain('some-secret');
  });
});

describe('attempts', () => {
  test('each have their own span, which is the parent for the called backend', async () => {
    collector = await Collector.start();
    const received: Record<'broken' | 'good', string[]> = { broken: [], good: [] };
    const hearing =
      (name: 'broken' | 'good', respond: Fault): Fault =>
      (socket, request) => {
        received[name].push(/^traceparent: (.*)$/im.exec(request)?.[1] ?? 'none');
        respond(socket, request);
      };
    const [broken, good] = [
      await FaultyBackend.start(hearing('broken', resets)),
      await FaultyBackend.start(hearing('good', responses())),
    ];
    gateway = await TestGateway.start({
      settings: `tracing: { ${SOON} }\nupstream: { url: "${broken.url},${good.url}", retries: { on: [connect, reset] } }`,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    });
    const { secret } = await gateway.key();
    const send = () =>
      gateway!.client.get('/pets').set('X-API-Key', secret).set('traceparent', SAMPLED);
    await until('one is asked a second time', async () => {
      await send().expect(200);
      return gateway!.log.some(({ msg }) => `${msg}`.startsWith('retry'));
    });
    await until('both attempts come', () =>
      collector!.spans.some(({ attributes }) => attributes['http.request.resend_count'] === 1),
    );
    const second = collector.spans.find(
      ({ attributes }) => attributes['http.request.resend_count'] === 1,
    )!;
    const first = collector.spans.find(
      ({ parentSpanId, spanId }) =>
        parentSpanId === second.parentSpanId && spanId !== second.spanId,
    )!;
    const own = collector.spans.find(({ spanId }) => spanId === second.parentSpanId);
    const at = ({ url }: FaultyBackend) => ({
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
    });
    expect(own).toMatchObject({ kind: 2, status: 0 });
    expect(first).toMatchObject({
      kind: 3,
      status: 2,
      attributes: { 'error.type': 'upstream_error', ...at(broken) },
    });
    expect(second).toMatchObject({
      kind: 3,
      status: 0,
      attributes: { 'http.response.status_code': 200, ...at(good) },
    });
    expect(first.end <= second.start).toBe(true);
    expect(received.broken).toContain(`00-${TRACE}-${first.spanId}-01`);
    expect(received.good).toContain(`00-${TRACE}-${second.spanId}-01`);
    await Promise.all([broken.close(), good.close()]);
  });
});

describe('a collector', () => {
  async function spansTotal(gateway: TestGateway): Promise<Record<string, number>> {
    const { text } = await gateway.admin.get('/metrics');
    return Object.fromEntries(
      [...text.matchAll(/^storegate_spans_total\{result="(\w+)"\} (\d+)$/gm)].map(
        ([, result, count]) => [result, Number(count)],
      ),
    );
  }

  test.each(['is down', 'refuses', 'fails', 'hangs'] as const)(
    'that %s affects no request: the failure is reported once, and the recovery too',
    async (mood) => {
      // Only a collector that hangs needs the timeout: a slow machine must not reach it.
      const timeout = mood === 'hangs' ? '1000' : '60000';
      const { collector, gateway, key } = await traced({
        env: { OTEL_BSP_EXPORT_TIMEOUT: timeout },
      });
      if (mood === 'is down') await collector.close();
      else collector.mood = mood;
      for (let i = 0; i < 3; i++) {
        await gateway.client.get('/pets').set('X-API-Key', key.secret).expect(200);
        await until(
          'they are lost',
          async () => (await spansTotal(gateway)).failed === 2 * (i + 1),
        );
      }
      const logged = (msg: string) => gateway.log.filter((line) => line.msg === msg);
      expect(logged('otlp.export_failed')).toMatchObject([
        { level: 40, reason: expect.stringMatching(/./) },
      ]);
      expect(logged('otlp.export_recovered')).toEqual([]);
      expect(logged('bug')).toEqual([]);

      if (mood === 'is down') await collector.open();
      collector.mood = 'takes';
      await gateway.client.get('/pets').set('X-API-Key', key.secret).expect(200);
      await until('spans come again', () => collector.spans.length === 2);
      await until('it is logged', () => logged('otlp.export_recovered').length === 1);
      expect(logged('otlp.export_recovered')).toMatchObject([{ dropped: 6 }]);
      expect(await spansTotal(gateway)).toEqual({ failed: 6, exported: 2 });
    },
  );

  test('that is slow makes spans wait, up to a limit: the rest is dropped and counted', async () => {
    const { collector, gateway, key } = await traced({
      settings: '',
      env: {
        OTEL_BSP_MAX_QUEUE_SIZE: '4',
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '4',
        OTEL_BSP_EXPORT_TIMEOUT: '60000',
      },
    });
    collector.mood = 'hangs';
    for (let i = 0; i < 8; i++)
      await gateway.client.get('/pets').set('X-API-Key', key.secret).expect(200);
    await until('some are dropped', async () => ((await spansTotal(gateway)).dropped ?? 0) >= 1);
    expect(gateway.log.filter(({ msg }) => msg === 'spans.dropped')).toHaveLength(1);
  });

  test('that hangs delays no stop of a process that has loaded the SDK of OpenTelemetry', async () => {
    collector = await Collector.start();
    collector.mood = 'hangs';
    const running = storegate(['serve'], {
      cwd: folder(),
      main: SOURCE_MAIN,
      env: {
        STOREGATE_PORT: '0',
        STOREGATE_ADMIN_PORT: '0',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
        ...SPYING,
      },
    });
    const started = /^\{.*"url":"([^"]+)".*"started".*$/m;
    await until('it serves', () => started.test(running.out()));
    expect((await fetch(`${started.exec(running.out())![1]}/pets`)).status).toBe(401);
    running.child.kill();
    expect(await running.exit).toBe(0);
    expect(collector.paths).toEqual(['/v1/traces']);
    expect(running.out()).toMatch(
      /"reason":"the gateway stopped before the collector accepted them","msg":"spans.dropped"/,
    );
    expect(running.out()).not.toContain('"otlp.export_failed"');
    expect(loadedBy(running)).toContain('@opentelemetry/sdk-trace');
  });
});

test('a reload changes the sampler, from the next request on', async () => {
  const { backend, gateway, key } = await traced({ settings: ', ratio: 0' });
  const flagsOf = async () => {
    await gateway.client.get('/pets').set('X-API-Key', key.secret).expect(200);
    return (sentTo(backend).traceparent as string).slice(-2);
  };
  expect(await flagsOf()).toBe('02');
  writeFileSync(join(gateway.folder, 'gateway.yaml'), `tracing: { ${SOON}, ratio: 1 }`);
  await gateway.admin.post('/reload').expect(200);
  expect(await flagsOf()).toBe('03');
});

describe('without an endpoint', () => {
  test('no part of OpenTelemetry is loaded', async () => {
    const env = { STOREGATE_PORT: '0', STOREGATE_ADMIN_PORT: '0', ...SPYING };
    const running = storegate(['serve'], { cwd: folder(), env, main: SOURCE_MAIN });
    await until('it serves', () => running.out().includes('"started"'));
    running.child.kill();
    expect(await running.exit).toBe(0);
    // The API alone, which does nothing without the SDK: prom-client loads it.
    expect(loadedBy(running)).toEqual(['@opentelemetry/api']);
  });

  test('a trace is passed through: the backend gets the header of the client, and the log has it', async () => {
    backend = await fakeBackend((_request, response) => response.end('[]'));
    gateway = await TestGateway.start({
      backendUrl: backend.url,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_SDK_DISABLED: 'true' },
    });
    const { secret } = await gateway.key();
    await gateway.client
      .get('/pets')
      .set('X-API-Key', secret)
      .set('traceparent', SAMPLED)
      .set('tracestate', 'a=1')
      .expect(200);
    expect(sentTo(backend)).toMatchObject({ traceparent: SAMPLED, tracestate: 'a=1' });
    expect(lineOf(gateway)).toMatchObject({ traceId: TRACE, traceparent: SAMPLED });
  });
});

describe('Server-Timing', () => {
  const entries = (field: string) =>
    [...field.matchAll(/(\w+);dur=(\d+\.\d\d)/g)].map(([, name]) => name);

  test('is off by default; after a reload it has the stages of a request, besides the value of the backend, and pages may read it', async () => {
    const { gateway, key } = await traced();
    const send = (path: string) => gateway.client.get(path).set('X-API-Key', key.secret);
    expect((await send('/pets')).headers['server-timing']).toBe('db;dur=3');
    writeFileSync(join(gateway.folder, 'gateway.yaml'), 'tracing: { serverTiming: true }');
    await gateway.admin.post('/reload').expect(200);

    const good = await send('/pets').set('Origin', 'https://shop.example').expect(200);
    const [, own] = /^(.*), db;dur=3$/.exec(good.headers['server-timing']!)!;
    expect(entries(own!)).toEqual(['auth', 'admit', 'check', 'backend', 'total']);
    expect(good.headers['timing-allow-origin']).toBe('*');

    const wrong = await send('/pets?limit=x').expect(400);
    expect(entries(wrong.headers['server-timing']!)).toEqual(['auth', 'admit', 'total']);
    expect(wrong.headers).not.toHaveProperty('timing-allow-origin');
    const strange = await gateway.client.get('/pets').set('X-API-Key', 'none').expect(401);
    expect(strange.headers).not.toHaveProperty('server-timing');
  });
});
