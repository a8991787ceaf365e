import { connect, type OnReadOpts, type Socket } from 'node:net';

interface Place {
  readonly port: number;
  /** A loopback address. */
  readonly from?: string | undefined;
  readonly onread?: OnReadOpts;
}

/** Milliseconds. */
const OPEN_WITHIN = 5_000;
const TICK = 1_000;

/**
 * Opens another connection `reopen` milliseconds after one was closed; `null`: never. Resolves when
 * the first is open, or cannot be opened.
 */
export function keepOpen(
  place: Place,
  use: (socket: Socket) => void,
  reopen: number | null = 100,
): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, OPEN_WITHIN).unref();
    open();
    function open(): void {
      const { port, from: localAddress, onread } = place;
      const socket = connect({ port, host: '127.0.0.1', localAddress, onread });
      socket.once('connect', () => {
        use(socket);
        resolve();
      });
      socket.on('error', () => {}).resume();
      socket.once('close', () => {
        resolve();
        if (reopen !== null) setTimeout(open, reopen);
      });
    }
  });
}

/** Sends `first`, and then so many bytes per second. */
export function sendSlowly(socket: Socket, first: string, rate: number): void {
  socket.write(first, 'latin1');
  const every = Math.max(TICK, 1_000 / rate);
  const part = ' '.repeat((rate * every) / 1_000);
  const timer = setInterval(() => socket.write(part), every);
  socket.once('close', () => clearInterval(timer));
}

/** Sends one request after the other, `pause` milliseconds after a response. */
export function repeat(place: Place, request: string, pause = 0): Promise<void> {
  const bytes = Buffer.from(request, 'latin1');
  return keepOpen(place, (socket) => {
    const send = () => socket.write(bytes);
    send();
    socket.on('data', (part) => {
      if (!part.includes('HTTP/1.1 ')) return;
      if (pause === 0) send();
      else setTimeout(send, pause);
    });
  });
}

/** Sends as fast as the gateway reads. */
export function flood(place: Place, requests: string): Promise<void> {
  const bytes = Buffer.from(requests, 'latin1');
  const send = (socket: Socket) => {
    while (!socket.destroyed && socket.write(bytes));
  };
  return keepOpen(place, (socket) => socket.on('drain', () => send(socket)) && send(socket), 1);
}

/** Reads at most `rate` bytes of the responses per second, from the kernel too. */
export function readSlowly({ port }: Place, request: string, rate: number): Promise<void> {
  const onread: OnReadOpts = { buffer: Buffer.alloc(rate), callback: () => false };
  return keepOpen({ port, onread }, (socket) => {
    socket.write(request);
    const timer = setInterval(() => socket.resume(), TICK);
    socket.once('close', () => clearInterval(timer));
  });
}
