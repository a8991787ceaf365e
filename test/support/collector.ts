import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type ReceivedSpan, spansInJson } from './otlp.ts';
import { until } from './until.ts';

export type Mood = 'takes' | 'refuses' | 'fails' | 'hangs';

export class Collector {
  readonly spans: ReceivedSpan[] = [];
  readonly heads: IncomingHttpHeaders[] = [];
  readonly paths: string[] = [];
  mood: Mood = 'takes';
  #server: Server | null = null;
  #port = 0;

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await collector.open();
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async open(): Promise<void> {
    this.#server = createServer(async (request, response) => {
      this.heads.push(request.headers);
      this.paths.push(request.url!);
      const sent = await buffer(request).catch(() => null);
      if (sent === null || this.mood === 'hangs') return;
      if (this.mood !== 'takes') {
        response.writeHead(this.mood === 'fails' ? 400 : 503, { 'Retry-After': '1' }).end('no');
        return;
      }
      const bytes = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
      this.spans.push(...spansInJson(bytes.toString()));
      response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    const server = this.#server!;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  /** The span of the gateway, and the spans of its attempts in order. */
  async trace(traceId: string): Promise<{ own: ReceivedSpan; attempts: readonly ReceivedSpan[] }> {
    const found = () => this.spans.filter((span) => span.traceId === traceId);
    await until(`the span of ${traceId} comes`, () => found().some(({ kind }) => kind === 2));
    const attempts = found().filter(({ kind }) => kind === 3);
    return {
      own: found().find(({ kind }) => kind === 2)!,
      attempts: attempts.sort((a, b) => Number(a.start - b.start)),
    };
  }
}
