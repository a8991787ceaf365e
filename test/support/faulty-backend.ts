import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.ts';

export type Fault = (socket: Socket, request: string) => void;

export function responseOf(status: number, body = ''): string {
  return `HTTP/1.1 ${status} Faulty\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

export const hangs: Fault = () => {};
export const resets: Fault = (socket) => void socket.resetAndDestroy();
export const responses =
  (status = 200, body = '[]'): Fault =>
  (socket) =>
    void socket.write(responseOf(status, body));

/**
 * An upstream on a free port with a configurable fault. It accepts requests without a body, one at
 * a time.
 */
export class FaultyBackend {
  readonly requests: string[] = [];
  respond: Fault = responses();
  readonly #sockets = new Set<Socket>();
  #server: Server;
  readonly #port: number;

  private constructor(port: number) {
    this.#port = port;
    this.#server = this.#create();
  }

  static async start(respond: Fault = responses()): Promise<FaultyBackend> {
    const backend = new FaultyBackend(await freePort());
    backend.respond = respond;
    await backend.open();
    return backend;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get name(): string {
    return `127.0.0.1:${this.#port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  get asked(): string[] {
    return this.requests.filter((line) => !/^GET (\/|\/health) /.test(line));
  }

  /** Always on the same port. */
  async open(): Promise<void> {
    this.#server = this.#create();
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  /** Also closes the open connections. */
  async close(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }

  #create(): Server {
    return createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => this.#sockets.delete(socket));
      socket.on('data', (data) => {
        const text = data.toString('latin1');
        this.requests.push(text.slice(0, text.indexOf('\r\n')));
        this.respond(socket, text);
      });
    });
  }
}
