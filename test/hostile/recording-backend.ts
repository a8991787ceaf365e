import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Recorded {
  readonly line: string;
  /** In the original order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

export type Respond = (socket: Socket, request: Recorded, count: number) => void;

export const EMPTY_LIST =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]';

/**
 * The backend behind an attacked gateway. It reads raw bytes in the strictest way, and records
 * framing that two readers could read differently.
 */
export class RecordingBackend {
  readonly requests: Recorded[] = [];
  readonly complaints: string[] = [];
  respond: Respond = (socket) => void socket.write(EMPTY_LIST);
  /** Before the body has arrived; the request is not recorded. */
  respondToHeads: ((socket: Socket) => void) | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #arriving = new Set<Socket>();
  readonly #server = createServer((socket) => this.#serve(socket));

  static async start(respond?: Respond): Promise<RecordingBackend> {
    const backend = new RecordingBackend();
    if (respond) backend.respond = respond;
    backend.#server.listen(0, '127.0.0.1');
    await once(backend.#server, 'listening');
    return backend;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get connections(): number {
    return this.#sockets.size;
  }

  /** Requests of which a part has arrived. */
  get arriving(): number {
    return this.#arriving.size;
  }

  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.dropConnections();
    await once(this.#server, 'close');
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    let text = '';
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#arriving.delete(socket);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (this.respondToHeads !== null && text.includes('\r\n\r\n')) {
        text = '';
        this.respondToHeads(socket);
        return;
      }
      for (let size = this.#whole(text); size > 0; size = this.#whole(text)) {
        this.#record(socket, text.slice(0, size));
        text = text.slice(size);
      }
      if (text === '') this.#arriving.delete(socket);
      else this.#arriving.add(socket);
    });
  }

  /** 0 while the request is incomplete. */
  #whole(text: string): number {
    const end = text.indexOf('\r\n\r\n') + 4;
    if (end < 4) return 0;
    if (/\r\ntransfer-encoding: chunked\r\n/i.test(text.slice(0, end))) {
      const last = text.indexOf('0\r\n\r\n', end);
      return last < 0 ? 0 : last + 5;
    }
    const length = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text.slice(0, end))?.[1] ?? 0);
    return text.length < end + length ? 0 : end + length;
  }

  #record(socket: Socket, text: string): void {
    const end = text.indexOf('\r\n\r\n');
    const [line = '', ...lines] = text.slice(0, end).split('\r\n');
    const headers = lines.map((header) => {
      const [name = '', ...value] = header.split(': ');
      return [name, value.join(': ')] as const;
    });
    const request = { line, headers, body: text.slice(end + 4) };
    this.#complain(request, text.slice(0, end));
    this.requests.push(request);
    this.respond(socket, request, this.requests.length);
  }

  #complain({ line, headers, body }: Recorded, head: string): void {
    const named = (name: string) => headers.filter(([other]) => other.toLowerCase() === name);
    const complain = (what: string) => this.complaints.push(`${what} in ${JSON.stringify(head)}`);
    if (!/^[A-Z]+ \/[!-~]* HTTP\/1\.1$/.test(line)) complain('a malformed request line');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|[^\r]\n|\r[^\n]|\n[ \t]/.test(head))
      complain('a stray byte');
    if (named('host').length !== 1) complain('not exactly one Host');
    if (named('content-length').length + named('transfer-encoding').length > 1)
      complain('more than one framing');
    if (named('content-length').some(([, value]) => Number(value) !== body.length))
      complain('a wrong length');
    if (headers.some(([name]) => !/^[!#$%&'*+.^_`|~\w-]+$/.test(name)))
      complain('a malformed header name');
  }
}

/** `name` in lower case. */
export function valuesOf({ headers }: Recorded, name: string): string[] {
  return headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
}
