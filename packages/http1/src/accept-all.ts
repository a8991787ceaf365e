import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import {
  setImmediate as nextTurn,
  setTimeout as pause,
} from 'node:timers/promises';
import { isEstablished, type ListeningSocket } from './internals.ts';

const MOST_TURNS = 2_000;
/**
 * Milliseconds between retransmissions of the last handshake packet, and how many of them are
 * awaited.
 */
const REPEATED = 300;
const MOST_REPEATS = 5;
/** proc(5). Reading one takes milliseconds. Sockets for IPv6 have clients with IPv4 too. */
const IPV4 = ['/proc/self/net/tcp'];
const TABLES = new Map([
  ['IPv4', IPV4],
  ['IPv6', [...IPV4, '/proc/self/net/tcp6']],
]);

/**
 * Accepts all connections, and lets the system drop the first packet of any other. The caller must
 * close the socket when this resolves, before the next turn of the event loop.
 * docs/decisions/http1.md has the reason.
 */
export async function acceptAll({
  address,
  listen,
}: ListeningSocket): Promise<void> {
  listen(0);
  let repeats = 0;
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const own = await takesRoom(address);
    if (own !== null) {
      if (handshakes(address) === 0 || repeats === MOST_REPEATS) return;
      // A client with a handshake in progress needs the space to finish it.
      repeats++;
      own.destroy();
      await pause(REPEATED);
    }
    await nextTurn();
  }
}

/** Another may arrive before the socket is closed. */
export async function acceptWaiting(
  listener: Server,
  wait: () => Promise<void> = wholeTurn,
): Promise<void> {
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

/** `null` if the queue was full. Resolves in the same turn of the event loop. */
async function takesRoom({
  address,
  port,
}: AddressInfo): Promise<Socket | null> {
  const own = connect({ host: address, port }).on('error', () => {});
  // A connection within one machine is established at once.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  if (isEstablished(own)) return own;
  own.destroy();
  return null;
}

/** State SYN_RECV, proc(5). */
function handshakes({ port, family }: AddressInfo): number {
  const local = port.toString(16).toUpperCase().padStart(4, '0');
  const begun = new RegExp(
    `^ *\\d+: [0-9A-F]+:${local} [0-9A-F]+:[0-9A-F]{4} 03 `,
    'gm',
  );
  return TABLES.get(family)!.reduce(
    (sum, file) => sum + (textOf(file).match(begun)?.length ?? 0),
    0,
  );
}

/** A sandbox may hide this table. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

async function wholeTurn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
