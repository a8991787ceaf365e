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
  /** An idle one, to make room. */
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
export class Preamble implements Occupant {
  readonly known = false;
  readonly idleSince = performance.now();
  readonly #socket: Socket;
  readonly #events: PreambleEvents;
  readonly #tls: TlsServer | null;
  readonly #deadline: number;
  readonly #place: Place;
  #wantsHeader: boolean;
  #origin = NO_ORIGIN;
  #bytes: Buffer = EMPTY;
  #touched = false;
  #shakesHands = false;

  constructor(
    socket: Socket,
    { wantsHeader, deadline, place, tls }: PreambleSettings,
    events: PreambleEvents,
  ) {
    this.#socket = socket;
    this.#events = events;
    this.#wantsHeader = wantsHeader;
    this.#deadline = deadline;
    this.#place = place;
    this.#tls = tls;
    place.occupant = this;
    socket
      .on('data', this.#receive)
      .on('end', this.#left)
      .on('error', ignored)
      .on('close', this.#closed)
      .resume();
  }

  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    if (this.#shakesHands || !this.#wantsHeader)
      this.#events.unsecured(this.#socket, 'timeout');
    else this.#events.unannounced(this.#socket, 'it did not come in time');
    this.destroy();
  }

  endIfQuiet(now: number): void {
    if (!this.#touched && now - this.idleSince >= QUIET) this.destroy();
  }

  secured(socket: TLSSocket): void {
    this.#letGo();
    const origin = { ...this.#origin, secure: true };
    this.#events.secured(socket, { place: this.#place, origin });
  }

  endIdle(): void {
    this.#events.ended(this.#socket);
    this.destroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #receive = (bytes: Buffer): void => {
    this.#touched = true;
    this.#bytes =
      this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    if (this.#wantsHeader && !this.#readHeader()) return;
    const tls = this.#tls;
    const arrival = { place: this.#place, origin: this.#origin };
    if (tls === null)
      this.#handOver((socket) =>
        this.#events.plain(socket, arrival, this.#bytes),
      );
    else if (this.#bytes.length === 0) return;
    else if (this.#bytes[0] !== HANDSHAKE)
      this.#handOver((socket) => this.#events.misplaced(socket, arrival));
    else this.#shakeHands(tls);
  };

  #readHeader(): boolean {
    const header = readProxyHeader(this.#bytes);
    if (header === null) return false;
    if (typeof header === 'string') {
      this.destroy();
      this.#events.unannounced(this.#socket, header);
      return false;
    }
    const { announced, length } = header;
    this.#wantsHeader = false;
    this.#origin = announced;
    this.#bytes = this.#bytes.subarray(length);
    return (
      announced.address === null ||
      this.#events.takesFrom(this.#place, announced.address)
    );
  }

  #shakeHands(tls: TlsServer): void {
    const socket = this.#socket;
    this.#shakesHands = true;
    socket.pause().off('data', this.#receive).off('end', this.#left);
    socket.unshift(this.#bytes);
    this.#bytes = EMPTY;
    tls.begin(socket);
  }

  #handOver(next: (socket: Socket) => void): void {
    this.#socket.off('data', this.#receive).off('end', this.#left);
    this.#letGo();
    next(this.#socket);
  }

  #letGo(): void {
    this.#socket.off('close', this.#closed);
    this.#events.closed(this.#socket);
  }

  readonly #left = (): void => this.destroy();

  readonly #closed = (): void => this.#events.closed(this.#socket);
}

function ignored(): void {}
