import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { type Recorded, RecordingBackend, type Respond } from './recording-backend.ts';
import { Wire, type WireAnswer } from './wire.ts';

export const PET = '{"name":"Rex","categoryId":1}';

const PLANS =
  'plans: { free: { windows: [{ limit: 60, per: minute }, { limit: 1000, per: day }] } }\n';

export class Fixture {
  readonly backend: RecordingBackend;
  readonly gateway: TestGateway;
  readonly secret: string;

  readonly #folder: string;

  private constructor(
    backend: RecordingBackend,
    gateway: TestGateway,
    secret: string,
    folder: string,
  ) {
    this.backend = backend;
    this.gateway = gateway;
    this.secret = secret;
    this.#folder = folder;
  }

  static async start({
    settings = '',
    plans = PLANS,
    document,
    env = {},
    respond,
    apis = () => '',
  }: {
    settings?: string;
    /** The contract; the shipped one by default. */
    document?: object;
    env?: Readonly<Record<string, string>>;
    /** Text of plans.yaml; `PLANS` by default. */
    plans?: string;
    respond?: Respond;
    apis?: (backendUrl: string) => string;
  } = {}): Promise<Fixture> {
    const backend = await RecordingBackend.start(respond);
    const folder = mkdtempSync(join(tmpdir(), 'storegate-fixture-'));
    const file = join(folder, 'openapi.json');
    if (document !== undefined) writeFileSync(file, JSON.stringify(document));
    const gateway = await TestGateway.start({
      backendUrl: backend.url,
      env: { ...env, ...(document && { STOREGATE_CONTRACT: file }) },
      settings: `${settings}\n${apis(backend.url)}`,
      plans,
    });
    const windows = [{ name: 'minute', kind: 'fixed', limit: 1_000_000, span: 60_000 }] as const;
    const { secret } = await gateway.key({ windows });
    return new Fixture(backend, gateway, secret, folder);
  }

  async stop(): Promise<void> {
    await this.gateway.stop();
    await this.backend.close();
    rmSync(this.#folder, { recursive: true });
  }

  connect(from?: string): Promise<Wire> {
    return Wire.open(this.gateway.url, from);
  }

  /** `headers` are whole lines without line ends, after Host and key. */
  request(line: string, headers: readonly string[] = [], body = ''): string {
    const all = ['Host: api.example', `X-API-Key: ${this.secret}`, ...headers];
    return `${line} HTTP/1.1\r\n${all.map((header) => `${header}\r\n`).join('')}\r\n${body}`;
  }

  post(headers: readonly string[], body: string): string {
    return this.request('POST /pets', ['Content-Type: application/json', ...headers], body);
  }

  /** `name`: without `storegate_`, with its labels. 0 if the metric has no such row. */
  async metric(name: string): Promise<number> {
    const { text } = await this.gateway.admin.get('/metrics');
    const row = text.split('\n').find((line) => line.startsWith(`storegate_${name} `));
    return Number(row?.split(' ').at(-1) ?? 0);
  }

  get probe(): string {
    return this.request('GET /categories');
  }

  async ask(bytes: string | Buffer): Promise<WireAnswer> {
    const wire = await this.connect();
    const response = await wire
      .send(bytes)
      .answer({ head: bytes.toString('latin1').startsWith('HEAD') });
    wire.close();
    return response;
  }

  async passed(bytes: string): Promise<Recorded> {
    const before = this.backend.requests.length;
    expect(await this.ask(bytes)).toMatchObject({ status: 200 });
    expect(this.backend.requests.length).toBe(before + 1);
    return this.backend.requests.at(-1)!;
  }

  /**
   * Checks the result of an attack: one Error object, a closed connection, and neither request at
   * the backend.
   */
  async refusesAndCloses(bytes: string | Buffer, statuses: readonly number[]): Promise<WireAnswer> {
    const before = this.backend.requests.length;
    const wire = await this.connect();
    const response = await wire.send(bytes).send(this.probe).answer();
    expect(statuses).toContain(response.status);
    isAnError(response);
    expect(response.headers.connection).toBe('close');
    expect(await wire.ended()).toBe('');
    await this.isUnharmed(before);
    return response;
  }

  /**
   * Checks that the gateway still answers a valid request, and that the backend received only that
   * request.
   */
  async isUnharmed(requestsBefore: number): Promise<void> {
    expect(await this.ask(this.probe)).toMatchObject({ status: 200 });
    expect(this.backend.requests.slice(requestsBefore).map(({ line }) => line)).toEqual([
      'GET /categories HTTP/1.1',
    ]);
    expect(this.backend.complaints).toEqual([]);
  }
}

const ADVICE = /\. (Send|Remove|Correct|Percent-encode|Encode|End|Use) .+\.$/;

export function isAnError({ status, headers, body }: WireAnswer): void {
  const { code, message, ...error } = JSON.parse(body);
  expect({ ...error, code }).toMatchObject({ status, code: expect.any(String) });
  // Two sentences: what is wrong, and what to do.
  expect(message).toMatch(code === 'malformed_request' ? ADVICE : /./);
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
    'x-ratelimit-reset': expect.stringMatching(/^\d{10}$/),
  });
}
