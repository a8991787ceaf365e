/**
 * CPU of spans, in microseconds per request:
 *
 *     node --expose-gc bench/tracing.ts
 *
 * Covers the ids, the fields for the backend, and the processing of the event at the end. Rounds in
 * turn; the receiver is another process.
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ClientResponse, Fields } from '@storegate/http1';
import { loadConfig } from '../src/config/load.ts';
import { tracedFields, watched } from '../src/gateway/upstream/attempts.ts';
import { type BackendHandle, soleUpstream } from '../src/gateway/upstream/upstream.ts';
import type { RequestSpan, RequestTrace } from '../src/observe/events.ts';
import { openTracing, type Tracing } from '../src/observe/tracing/tracing.ts';
import { exchangeOf, knownClient, requestFields } from '../test/support/exchange.ts';
import { requestEvent } from '../test/support/request-event.ts';
import { spread } from './statistics.ts';

const REQUESTS = 100_000;
/** Requests per turn of the event loop, and milliseconds there: some 2000 requests a second. */
const BURST = 200;
const ROUNDS = 5;
const CALLER = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

const STORE = soleUpstream('backend:80', null as never).choose(0, true, [], '') as BackendHandle;
const RECEIVER = { begun() {}, answer() {}, fail() {} };
const NO_FIELDS: Fields = {
  list: [],
  lengths: [],
  codings: [],
  hosts: [],
  close: false,
  keepAlive: false,
  meaning: null,
};
const ANSWER: ClientResponse = {
  status: 200,
  reason: '',
  minor: 1,
  fields: NO_FIELDS,
  framing: 0,
  persistent: true,
  body: Buffer.alloc(0),
};

const TRACE = {
  path: '/pets',
  authenticated: 0.05,
  admitted: 0.1,
  forwarded: 0.2,
  traceparent: null,
} as unknown as RequestTrace;

const traced = tracedFields(requestFields);

if (process.argv[2] === 'receiver') await receive();
else await compare();

async function receive(): Promise<void> {
  const server = createServer((request, response) =>
    request.resume().on('end', () => response.end()),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!((server.address() as AddressInfo).port);
}

async function compare(): Promise<void> {
  const receiver = fork(import.meta.filename, ['receiver']);
  const [port] = await once(receiver, 'message');
  const { tracing: settings } = loadConfig({
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    cwd: '.',
  });
  const became = { failed: 0, dropped: 0, exported: 0 };
  const tracing = (await openTracing(
    { ...settings, batch: { ...settings.batch, maxQueueSize: 1_000_000, scheduleDelay: 50 } },
    {
      worker: null,
      observe(event) {
        if (event.type === 'spans') became[event.result] += event.count;
      },
    },
  ))!;
  const kinds = {
    off: withoutReceiver(),
    'ratio 0': begun(tracing, 0, {}),
    'ratio 0.1': begun(tracing, 0.1, {}),
    'ratio 1': begun(tracing, 1, {}),
    'the caller wants none': begun(tracing, 1, { traceparent: CALLER.replace(/1$/, '0') }),
    'the caller wants it': begun(tracing, 0, { traceparent: CALLER }),
  };
  const figures = new Map<string, number[]>(Object.keys(kinds).map((name) => [name, []]));
  for (const one of Object.values(kinds)) await microseconds(one, REQUESTS / 10);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, one] of Object.entries(kinds))
      figures.get(name)!.push(await microseconds(one, REQUESTS));
  }
  for (const [name, all] of figures)
    console.log(`${name}: ${spread(all).median.toFixed(2)} µs a request`);
  await tracing.close();
  console.log(became);
  receiver.kill();
}

/** One request as far as tracing sees it. */
function begun(tracing: Tracing, ratio: number, fields: { traceparent?: string }): () => void {
  const begin = tracing.begin({ sampler: 'parentbased_traceidratio', ratio, parents: 'any' });
  const client = knownClient();
  const template = exchangeOf('GET', { Host: 'backend' });
  return () => {
    const span: RequestSpan = begin(
      { traceparent: fields.traceparent, tracestate: undefined },
      false,
      performance.now(),
    );
    const lines = traced({ ...template, span }, client);
    watched(span, lines, STORE, RECEIVER).answer(ANSWER);
    tracing.observe(requestEvent({ trace: { ...TRACE, span } }));
  };
}

function withoutReceiver(): () => void {
  const client = knownClient();
  const template = exchangeOf('GET', { Host: 'backend' });
  return () => {
    requestFields({ ...template, span: null }, client);
    requestEvent({ trace: { ...TRACE, span: null } });
  };
}

async function microseconds(one: () => void, requests: number): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  for (let done = 0; done < requests; done += BURST) {
    for (let i = 0; i < BURST; i++) one();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // Lets pending spans be sent.
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}
