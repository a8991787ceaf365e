import { connect, type Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Turns of the event loop in which waiting connections may be accepted, one in each; far more than the system keeps. */
const MOST_TURNS = 2_000;

/** What Node's own handle of a listening socket has, which no public name leads to. Calls return 0, or an error number. */
export interface ListeningHandle {
  getsockname(into: object): number;
  listen(backlog: number): number;
  close(): void;
}

interface WithHandle<T> {
  readonly _handle: T | null;
}

/** The socket behind a server that listens by itself; `null`: it does not listen, or this system cannot shrink a backlog. */
export function socketOf(listener: Server): ListeningHandle | null {
  return process.platform === 'linux' ? (listener as unknown as WithHandle<ListeningHandle>)._handle : null;
}

/**
 * Accepts all connections that wait in the system's queue: closing a listening socket resets them. The caller must close the
 * socket when this resolves, before the next turn of the event loop.
 *
 * A backlog of 0 leaves room for one connection, and Linux drops the first packet of any other. Once a connection of this
 * process has that room, no client waits and none can come. A client whose packet was dropped repeats it after a second, and is
 * refused before it has sent a request.
 */
export async function acceptAll(socket: ListeningHandle): Promise<void> {
  socket.listen(0);
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    if (await takesRoom(socket)) return;
    await nextTurn();
  }
}

/** Accepts waiting connections until none came during `wait`. The next one may come before the socket is closed. */
export async function acceptWaiting(listener: Server, wait: () => Promise<void> = wholeTurn): Promise<void> {
  let came = true;
  const note = () => {
    came = true;
  };
  listener.on('connection', note);
  for (let turns = 0; came && turns < MOST_TURNS; turns++) {
    came = false;
    await wait();
  }
  listener.off('connection', note);
}

/** Whether the queue has taken a connection of this process. Resolves in the same turn of the event loop. */
async function takesRoom(socket: ListeningHandle): Promise<boolean> {
  const at: { address?: string; port?: number } = {};
  socket.getsockname(at);
  const own = connect({ host: at.address, port: at.port! }).on('error', () => {});
  // Node connects behind the code of this turn; the system makes a connection within one machine at once.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const { _handle: handle } = own as unknown as WithHandle<{ getpeername(into: object): number }>;
  const isTaken = handle?.getpeername({}) === 0;
  if (!isTaken) own.destroy();
  return isTaken;
}

/** The rest of this turn of the event loop, and a whole one. */
async function wholeTurn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
