import { createHmac, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { WEBHOOK_SCHEMA } from '@storegate/admin-api/files';
import { Ajv } from 'ajv';
import { freePort } from './free-port.ts';

const schema = JSON.parse(readFileSync(WEBHOOK_SCHEMA, 'utf8'));
const ajv = new Ajv({ allErrors: true, strict: false });
ajv.addFormat('date-time', (value: string) => new Date(value).toISOString() === value);
const isEvent = ajv.compile(schema);

/** Empty for a valid event of the published schema. */
export function faultsOfEvent(value: unknown): unknown[] {
  return isEvent(value) ? [] : [...isEvent.errors!];
}

export const makeWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

export interface Attempt {
  readonly id: string;
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any property of the event.
  readonly data: any;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
}

export interface ReceiverAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection is cut without a response. */
  readonly cut?: boolean;
}

/**
 * Checks every attempt against the standard (with independent code) and the published schema, and
 * collects mistakes in `faults`.
 */
export class Receiver {
  readonly secret: string;
  readonly attempts: Attempt[] = [];
  readonly faults: unknown[] = [];
  answer: (attempt: Omit<Attempt, 'status'>) => ReceiverAnswer | Promise<ReceiverAnswer> = () => ({
    status: 204,
  });
  readonly #server: Server;

  private constructor(secret: string) {
    this.secret = secret;
    this.#server = createServer((request, response) => {
      const { headers, url: path = '' } = request;
      void (async () => {
        const body = await text(request).catch(() => null);
        // The sender aborted.
        if (body === null) return;
        const { type, data } = this.#read(headers, body);
        const attempt = { id: `${headers['webhook-id']}`, type, data, path, headers, body };
        const { status, headers: sent = {}, cut = false } = await this.answer(attempt);
        this.attempts.push({ ...attempt, status });
        if (cut) request.socket.destroy();
        else response.writeHead(status, sent).end('thank you');
      })();
    });
  }

  static async start(secret = makeWebhookSecret(), port?: number): Promise<Receiver> {
    const receiver = new Receiver(secret);
    receiver.#server.listen(port ?? (await freePort()), '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hooks/s3cr3t-path`;
  }

  get env(): Record<string, string> {
    return { STOREGATE_WEBHOOK_URL: this.url, STOREGATE_WEBHOOK_SECRET: this.secret };
  }

  /** Accepted attempts, in order of arrival. */
  get taken(): Attempt[] {
    return this.attempts.filter(({ status }) => status >= 200 && status < 300);
  }

  takenOf(type: string): Attempt[] {
    return this.taken.filter((attempt) => attempt.type === type);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #read(headers: IncomingHttpHeaders, body: string) {
    const event = JSON.parse(body) as { type: string; data: unknown };
    this.faults.push(...faultsOfEvent(event));
    if (headers['content-type'] !== 'application/json') this.faults.push(headers);
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const key = Buffer.from(this.secret.replace('whsec_', ''), 'base64');
    const good = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
    if (!`${headers['webhook-signature']}`.split(' ').includes(good))
      this.faults.push({ signature: headers });
    return event;
  }
}
