import { readFileSync } from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/** Turns of the event loop in which waiting connections may be accepted, one in each; far more than the system keeps. */
const MOST_TURNS = 2_000;
/** Milliseconds in which a client repeats the end of a handshake that found no room, and how often it is given the time. */
const REPEATED = 300;
const MOST_REPEATS = 5;
/** Where Linux lists connections over IPv4 and IPv6, proc(5). */
const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];

/** What Node's own handle of a listening socket has, which no public name leads to. Calls return 0, or an error number. */
export interface ListeningHandle {
  getsockname(into: SocketName): number;
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
 * process has that room, no client waits and none can begin. A client whose packet was dropped repeats it after a second, and is
 * refused before it has sent a request. A client that began before must not be left in the middle: then the room is free for it.
 */
export async function acceptAll(socket: ListeningHandle): Promise<void> {
  socket.listen(0);
  const at: SocketName = {};
  socket.getsockname(at);
  let repeats = 0;
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const own = await takesRoom(at);
    if (own !== null) {
      if (handshakes(at.port!) === 0 || repeats === MOST_REPEATS) return;
      repeats++;
      own.destroy();
      await pause(REPEATED);
    }
    await nextTurn();
  }
}

interface SocketName {
  address?: string;
  port?: number;
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

/** A connection of this process that the queue has taken; `null`: it had no room. Resolves in the same turn of the event loop. */
async function takesRoom({ address, port }: SocketName): Promise<Socket | null> {
  const own = connect({ host: address, port: port! }).on('error', () => {});
  // Node connects behind the code of this turn; the system makes a connection within one machine at once.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const { _handle: handle } = own as unknown as WithHandle<{ getpeername(into: object): number }>;
  if (handle?.getpeername({}) === 0) return own;
  own.destroy();
  return null;
}

/** Connections to a port whose handshake has begun and not ended: those in the state SYN_RECV, proc(5). */
function handshakes(port: number): number {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  const begun = new RegExp(`^ *\\d+: [0-9A-F]+:${local} [0-9A-F]+:[0-9A-F]{4} 03 `, 'gm');
  return TABLES.reduce((sum, file) => sum + (textOf(file).match(begun)?.length ?? 0), 0);
}

/** A sandbox may hide a table. A stop goes on without it, as it would on another system. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** The rest of this turn of the event loop, and a whole one. */
async function wholeTurn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
