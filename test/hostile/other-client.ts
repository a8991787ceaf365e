import type { TestGateway } from '../support/gateway.ts';
import { Wire } from './wire.ts';

/** Milliseconds. Some attacks get no response, because the gateway waits for more bytes. */
const PATIENCE = 30;

export async function keysOf(gateway: TestGateway) {
  const windows = [{ name: 'minute', kind: 'fixed', limit: 1_000_000, span: 60_000 }] as const;
  const attacker = await gateway.key({ account: 'attacker', windows });
  const other = await gateway.key({ account: 'other-client', windows });
  return { attacker: attacker.secret, other: other.secret };
}

/** Waits for a response, the end, or a short timeout. Closes with a reset. */
export async function attack(url: string, bytes: string): Promise<void> {
  const wire = await Wire.open(url);
  const leave = () => wire.socket.resetAndDestroy();
  const patience = setTimeout(leave, PATIENCE);
  await wire
    .send(bytes)
    .answer()
    .catch(() => null);
  clearTimeout(patience);
  leave();
  wire.close();
}

export class OtherClient {
  readonly #url: string;
  readonly #secret: string;
  #wire: Wire | null = null;
  #pet = 1_000;

  constructor(url: string, secret: string) {
    this.#url = url;
    this.#secret = secret;
  }

  get pet(): number {
    return this.#pet;
  }

  async ask(): Promise<unknown> {
    this.#pet++;
    this.#wire ??= await Wire.open(this.#url);
    const { status, body, headers } = await this.#wire
      .send(`GET /pets/${this.#pet} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${this.#secret}\r\n\r\n`)
      .answer();
    if (headers.connection === 'close') this.close();
    return { status, ...JSON.parse(body) };
  }

  close(): void {
    this.#wire?.close();
    this.#wire = null;
  }
}

/** 0 in any other line. */
export const petIn = (line: string) => Number(/\/pets\/(\d+)/.exec(line)?.[1] ?? 0);
export const pet = (id: number) => JSON.stringify({ id, name: 'Rex' });
