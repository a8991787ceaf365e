import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface WireAnswer {
  readonly status: number;
  /** Names are in lower case; the values of repeated headers are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly code: string | undefined;
}

/**
 * Milliseconds after the last send, so that a missing response is a named failure and not a hanging
 * test.
 */
const PATIENCE = 60_000;

export class Wire {
  readonly socket: Socket;
  readonly #patience: NodeJS.Timeout;
  /** Received bytes that no response has consumed; one character per byte. */
  #text = '';
  #ended = false;
  #wake: () => void = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    this.#patience = setTimeout(() => socket.destroy(), PATIENCE);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      this.#text += chunk.toString('latin1');
      this.#wake();
    });
    // A reset ends a connection as a FIN does; only the bytes before it count.
    socket.on('error', () => {});
    socket.on('end', () => this.#end());
    socket.on('close', () => this.#end());
  }

  static async open(url: string, localAddress = '127.0.0.1'): Promise<Wire> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    const wire = new Wire(socket);
    await once(socket, 'connect');
    return wire;
  }

  /** Text is sent as latin1: one byte per character. */
  send(bytes: string | Buffer): this {
    this.#patience.refresh();
    if (!this.socket.destroyed)
      this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
    return this;
  }

  /**
   * With `head` the response has no body. Fails if the connection ends before the response is
   * complete.
   */
  async answer({ head = false } = {}): Promise<WireAnswer> {
    const end = await this.#find('\r\n\r\n', 0);
    const [line = '', ...lines] = this.#text.slice(0, end).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
    const headers = fields(lines);
    this.#text = this.#text.slice(end + 4);
    const bodiless = head || status < 200 || status === 204 || status === 304;
    const body = bodiless ? '' : await this.#body(headers);
    return { status, headers, body, code: codeOf(body) };
  }

  /** The lines of the next head, as received. */
  async lines(): Promise<string[]> {
    const end = await this.#find('\r\n\r\n', 0);
    return this.#text.slice(0, end).split('\r\n');
  }

  /** Resolves with the remaining bytes once the other side has closed the connection. */
  async ended(): Promise<string> {
    while (!this.#ended) await this.#more();
    this.close();
    return this.#text;
  }

  close(): void {
    clearTimeout(this.#patience);
    this.socket.destroy();
  }

  async #body(headers: Readonly<Record<string, string>>): Promise<string> {
    if (headers['transfer-encoding'] === 'chunked') return this.#chunks();
    if (headers['content-length'] !== undefined)
      return this.#take(Number(headers['content-length']));
    while (!this.#ended) await this.#more();
    return this.#take(this.#text.length);
  }

  async #chunks(): Promise<string> {
    let body = '';
    for (;;) {
      const size = Number.parseInt(await this.#take((await this.#find('\r\n', 0)) + 2), 16);
      const chunk = await this.#take(size + 2);
      if (size === 0) return body;
      body += chunk.slice(0, size);
    }
  }

  async #take(length: number): Promise<string> {
    while (this.#text.length < length) await this.#need();
    const taken = this.#text.slice(0, length);
    this.#text = this.#text.slice(length);
    return taken;
  }

  async #find(text: string, from: number): Promise<number> {
    let at = this.#text.indexOf(text, from);
    while (at < 0) {
      await this.#need();
      at = this.#text.indexOf(text, from);
    }
    return at;
  }

  async #need(): Promise<void> {
    if (this.#ended) {
      this.close();
      throw new Error(
        `the connection ended before the answer was whole, after ${JSON.stringify(this.#text)}`,
      );
    }
    await this.#more();
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #end(): void {
    clearTimeout(this.#patience);
    this.#ended = true;
    this.#wake();
  }
}

function fields(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

function codeOf(body: string): string | undefined {
  if (!body.startsWith('{')) return undefined;
  return (JSON.parse(body) as { code?: string }).code;
}
