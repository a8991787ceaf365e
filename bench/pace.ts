import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Request } from './work.ts';

/**
 * Sends at an even pace regardless of response times. Returns sorted milliseconds until the last
 * byte. Rejects on a missing response or one other than 2xx.
 */
export async function pace(
  request: Request,
  { rate, seconds }: { rate: number; seconds: number },
): Promise<number[]> {
  const connections = new Connections(request);
  const answers: Promise<number>[] = [];
  try {
    const start = performance.now();
    while (answers.length < rate * seconds) {
      // Corrects the drift of timers in whole milliseconds.
      const wait = start + (answers.length * 1_000) / rate - performance.now();
      if (wait > 0) await pause(wait);
      const answer = connections.time();
      // Handled below; until then it must not count as unhandled.
      answer.catch(() => {});
      answers.push(answer);
    }
    return (await Promise.all(answers)).sort((a, b) => a - b);
  } finally {
    connections.close();
  }
}

/** Opens a new connection if all are busy, as a browser does. */
class Connections {
  readonly #url: URL;
  readonly #bytes: Buffer;
  readonly #idle: Promise<Socket>[] = [];
  readonly #all: Socket[] = [];

  constructor(request: Request) {
    this.#url = new URL(request.url);
    this.#bytes = toBytes(request, this.#url);
  }

  async time(): Promise<number> {
    const connection = this.#idle.pop() ?? this.#open();
    const socket = await connection;
    const start = performance.now();
    socket.write(this.#bytes);
    await answered(socket);
    const time = performance.now() - start;
    this.#idle.push(connection);
    return time;
  }

  close(): void {
    for (const socket of this.#all) socket.destroy();
  }

  #open(): Promise<Socket> {
    const socket = connect({
      port: Number(this.#url.port),
      host: this.#url.hostname,
      noDelay: true,
    });
    socket.setTimeout(10_000, () => socket.destroy());
    this.#all.push(socket);
    return once(socket, 'connect').then(() => socket);
  }
}

function toBytes({ method, headers, body }: Request, { pathname, host }: URL): Buffer {
  const length = body === null ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.from(`${method} ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`);
}

function answered(socket: Socket): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    const finish = (error?: Error) => {
      socket.off('data', read).off('close', cut);
      if (error) reject(error);
      else resolve();
    };
    const cut = () =>
      finish(new Error(`the connection was closed after ${text.length} bytes of an answer`));
    const read = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n');
      if (end < 0) return;
      if (!/^HTTP\/1\.1 2/.test(text)) return finish(new Error(`answered ${text.slice(0, end)}`));
      const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1];
      const done =
        length === undefined
          ? text.endsWith('\r\n0\r\n\r\n')
          : text.length >= end + 4 + Number(length);
      if (done) finish();
    };
    socket.on('data', read).on('close', cut);
  });
}
