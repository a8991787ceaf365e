import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { EMPTY } from './body-stream.ts';
import type { Occupant, Place } from './place.ts';
import { NO_ORIGIN, type Origin, readProxyHeader } from './proxy-protocol.ts';
import type { HandshakeFailure, TlsServer } from './tls-server.ts';

export interface PreambleEvents {
  /** If not, the connection is already closed. */
  readonly takesFrom: (place: Place, address: string) => boolean;
  readonly plain: (socket: Socket, arrival: Arrival, early: Buffer) => void;
  readonly secured: (socket: TLSSocket, arrival: Arrival) => void;
  /** HTTP instead of TLS. */
  readonly misplaced: (socket: Socket, arrival: Arrival) => void;
  /** An invalid PROXY protocol header; the connection is already closed. */
  readonly unannounced: (socket: Socket, why: string) => void;
  readonly unsecured: (socket: Socket, why: HandshakeFailure) => void;
  /** An idle connection, to free its place. */
  readonly ended: (socket: Socket) => void;
  readonly closed: (socket: Socket) => void;
}

export interface Arrival {
  readonly place: Place;
  readonly origin: Origin;
}

interface PreambleSettings {
  readonly wantsHeader: boolean;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  readonly place: Place;
  readonly tls: TlsServer | null;
}

/** Milliseconds of silence. */
const QUIET = 100;
/** The first byte of a TLS handshake. No HTTP method begins with it. */
const HANDSHAKE = 0x16;

/** Holds at most one read and the header. */
export function createPreamble(
  socket: Socket,
  { deadline, place, tls, ...settings }: PreambleSettings,
  events: PreambleEvents,
) {
  const idleSince = performance.now();
  let { wantsHeader } = settings;
  let origin = NO_ORIGIN;
  let bytes: Buffer = EMPTY;
  let touched = false;
  let shakesHands = false;
  const closed = () => events.closed(socket);
  socket
    .on('data', receive)
    .on('end', destroy)
    .on('error', ignored)
    .on('close', closed)
    .resume();

  const preamble = {
    known: false,
    idleSince,
    endIfLate(now: number): void {
      if (now < deadline) return;
      if (shakesHands || !wantsHeader) events.unsecured(socket, 'timeout');
      else events.unannounced(socket, 'it did not come in time');
      destroy();
    },
    endIfQuiet(now: number): void {
      if (!touched && now - idleSince >= QUIET) destroy();
    },
    secured(secured: TLSSocket): void {
      letGo();
      events.secured(secured, { place, origin: { ...origin, secure: true } });
    },
    endIdle(): void {
      events.ended(socket);
      destroy();
    },
    destroy,
  } satisfies Occupant & Record<string, unknown>;
  place.occupant = preamble;
  return preamble;

  function receive(read: Buffer): void {
    touched = true;
    bytes = bytes.length === 0 ? read : Buffer.concat([bytes, read]);
    if (wantsHeader && !readHeader()) return;
    const arrival = { place, origin };
    if (tls === null) {
      handOver();
      events.plain(socket, arrival, bytes);
    } else if (bytes.length === 0) return;
    else if (bytes[0] !== HANDSHAKE) {
      handOver();
      events.misplaced(socket, arrival);
    } else shakeHands(tls);
  }

  function destroy(): void {
    socket.destroy();
  }

  function readHeader(): boolean {
    const header = readProxyHeader(bytes);
    if (header === null) return false;
    if (typeof header === 'string') {
      destroy();
      events.unannounced(socket, header);
      return false;
    }
    const { announced, length } = header;
    wantsHeader = false;
    origin = announced;
    bytes = bytes.subarray(length);
    return (
      announced.address === null || events.takesFrom(place, announced.address)
    );
  }

  function shakeHands(tls: TlsServer): void {
    shakesHands = true;
    socket.pause().off('data', receive).off('end', destroy);
    socket.unshift(bytes);
    bytes = EMPTY;
    tls.begin(socket);
  }

  function handOver(): void {
    socket.off('data', receive).off('end', destroy);
    letGo();
  }

  function letGo(): void {
    socket.off('close', closed);
    events.closed(socket);
  }
}

export type Preamble = ReturnType<typeof createPreamble>;

function ignored(): void {}
