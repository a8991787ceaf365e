import { connect, type Socket } from 'node:net';

/** Milliseconds. */
const PATIENCE = 30_000;

export const OK = 'HTTP/1.1 200 OK';

/** One request at a time, without retries. */
export class Connection {
  ended = false;
  readonly #socket: Socket;
  #text = '';
  #settle: (outcome: string) => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('timeout', () => this.#end('no response in time'));
    this.#socket.on('data', (bytes) => this.#take(bytes.toString('latin1')));
    this.#socket.on('error', (error: NodeJS.ErrnoException) =>
      this.#end(error.code ?? error.message),
    );
    this.#socket.on('end', () => this.#end('the connection ended'));
  }

  /** Resolves with the status line, or with the error. */
  ask(request: string): Promise<string> {
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#socket.setTimeout(PATIENCE);
      this.#socket.write(request, 'latin1');
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#text += text;
    const head = this.#text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const [, length = 'unknown'] =
      /\r\ncontent-length: (\d+)\r\n/i.exec(this.#text.slice(0, head + 2)) ?? [];
    if (this.#text.length < head + 4 + Number(length)) return;
    const status = this.#text.slice(0, this.#text.indexOf('\r\n'));
    const last = /\r\nconnection: close\r\n/i.test(this.#text.slice(0, head + 2));
    this.#text = '';
    this.#socket.setTimeout(0);
    if (last) this.#end(status);
    else this.#settle(status);
  }

  #end(outcome: string): void {
    this.ended = true;
    this.#socket.destroy();
    this.#settle(outcome);
  }
}
