import { connect, type Socket } from 'node:net';

/** Milliseconds. */
const PATIENCE = 30_000;

export const OK = 'HTTP/1.1 200 OK';

/** `more`: further lines. */
export function get(path: string, key?: string, more = ''): string {
  const own = key === undefined ? '' : `X-API-Key: ${key}\r\n`;
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${own}${more}\r\n`;
}

/** The head of a request. */
export function post(path: string, length: number, key?: string, type = 'application/json') {
  const more = `Content-Type: ${type}\r\nContent-Length: ${length}\r\n`;
  return get(path, key, more).replace('GET', 'POST');
}

/** One request at a time, without retries. */
export class Connection {
  ended = false;
  readonly #socket: Socket;
  #text = '';
  #settle: (outcome: string) => void = () => {};

  constructor(port: number, socket = connect({ port, host: '127.0.0.1', noDelay: true })) {
    this.#socket = socket;
    this.#socket.on('timeout', () => this.#end('no response'));
    this.#socket.on('data', (bytes) => this.#take(bytes.toString('latin1')));
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#end(error.code ?? error.message),
    );
    this.#socket.on('end', () => this.#end('the connection ended'));
  }

  /** Resolves with the status line, or with the error. */
  ask(request: string, patience = PATIENCE): Promise<string> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.setTimeout(patience);
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    const end = this.#text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = this.#text.slice(0, end + 2);
    const [, length] = /\r\ncontent-length: (\d+)\r\n/i.exec(head) ?? [];
    const isWhole =
      length === undefined
        ? this.#text.endsWith('\r\n0\r\n\r\n')
        : this.#text.length >= end + 4 + Number(length);
    if (!isWhole) return;
    const status = head.slice(0, head.indexOf('\r\n'));
    this.#text = '';
    this.#socket.setTimeout(0);
    if (/\r\nconnection: close\r\n/i.test(head)) this.#end(status);
    else this.#settle(status);
  }

  #end(outcome: string): void {
    this.ended = true;
    this.#socket.destroy();
    this.#settle(outcome);
  }
}
