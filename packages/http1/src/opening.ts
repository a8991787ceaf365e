import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { readProxyHeader } from './proxy-protocol.ts';
import type { HandshakeFailure, TlsServer } from './tls-server.ts';

/** What is known of a connection beside its socket. */
export interface Origin {
  /** Where it comes from; `null`: where its socket does. */
  readonly address: string | null;
  /** Whether the caller speaks TLS: here, or with a balancer that says so. */
  readonly secure: boolean;
}

/** What becomes of connections that are being opened. */
export interface Openings {
  /** `null`: HTTP comes as it is. */
  readonly tls: TlsServer | null;
  /** Whether a connection from that address is counted there too. Otherwise it is closed already. */
  readonly takesFrom: (socket: Socket, address: string) => boolean;
  /** HTTP begins; `early` has its first bytes. */
  readonly plain: (socket: Socket, origin: Origin, early: Buffer) => void;
  /** The same, over TLS. */
  readonly secured: (socket: TLSSocket, origin: Origin) => void;
  /** HTTP came where TLS was expected. */
  readonly misplaced: (socket: Socket, origin: Origin) => void;
  /** The balancer's header was none, for the reason given; the connection is closed already. */
  readonly unannounced: (socket: Socket, why: string) => void;
  readonly unsecured: (socket: Socket, why: HandshakeFailure) => void;
  readonly closed: (socket: Socket) => void;
}

/** Milliseconds without a byte after which nobody seems to be about to send one. */
const QUIET = 100;
const NOTHING = Buffer.alloc(0);
/** The first byte of a handshake of TLS. No method of HTTP begins with it. */
const HANDSHAKE = 0x16;

/**
 * A connection before its first byte of HTTP: a balancer says whose it is, or TLS begins, or one after the other. It keeps at most
 * what one read brings and the header of a balancer.
 */
export class Opening {
  readonly #socket: Socket;
  readonly #openings: Openings;
  readonly #deadline: number;
  readonly #begun = performance.now();
  #wantsHeader: boolean;
  #origin: Origin = { address: null, secure: false };
  #bytes: Buffer = NOTHING;
  /** Anything has come. */
  #touched = false;
  #shakesHands = false;

  /** `deadline` on the clock of `performance.now()`. */
  constructor(
    socket: Socket,
    { wantsHeader, deadline }: { wantsHeader: boolean; deadline: number },
    openings: Openings,
  ) {
    this.#socket = socket;
    this.#openings = openings;
    this.#wantsHeader = wantsHeader;
    this.#deadline = deadline;
    socket.on('data', this.#receive).on('end', this.#left).on('error', ignored).on('close', this.#closed).resume();
  }

  get origin(): Origin {
    return this.#origin;
  }

  endIfLate(now: number): void {
    if (now < this.#deadline) return;
    if (this.#shakesHands || !this.#wantsHeader) this.#openings.unsecured(this.#socket, 'late');
    else this.#openings.unannounced(this.#socket, 'it did not come in time');
    this.destroy();
  }

  /** Ends a connection on which nothing has come for a while; `now` in milliseconds. */
  endIfQuiet(now: number): void {
    if (!this.#touched && now - this.#begun >= QUIET) this.destroy();
  }

  /** The handshake is done. */
  secured(socket: TLSSocket): void {
    this.#letGo();
    this.#openings.secured(socket, { ...this.#origin, secure: true });
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #receive = (bytes: Buffer): void => {
    this.#touched = true;
    this.#bytes = this.#bytes.length === 0 ? bytes : Buffer.concat([this.#bytes, bytes]);
    if (this.#wantsHeader && !this.#readHeader()) return;
    const { tls } = this.#openings;
    if (tls === null) this.#goOn((socket) => this.#openings.plain(socket, this.#origin, this.#bytes));
    else if (this.#bytes.length === 0) return;
    else if (this.#bytes[0] !== HANDSHAKE) this.#goOn((socket) => this.#openings.misplaced(socket, this.#origin));
    else this.#shakeHands(tls);
  };

  /** Returns whether it is whole and good. */
  #readHeader(): boolean {
    const header = readProxyHeader(this.#bytes);
    if (header === null) return false;
    if (typeof header === 'string') {
      this.destroy();
      this.#openings.unannounced(this.#socket, header);
      return false;
    }
    const { announced, length } = header;
    this.#wantsHeader = false;
    this.#origin = announced;
    this.#bytes = this.#bytes.subarray(length);
    return announced.address === null || this.#openings.takesFrom(this.#socket, announced.address);
  }

  #shakeHands(tls: TlsServer): void {
    const socket = this.#socket;
    this.#shakesHands = true;
    socket.pause().off('data', this.#receive).off('end', this.#left);
    socket.unshift(this.#bytes);
    this.#bytes = NOTHING;
    tls.begin(socket);
  }

  #goOn(next: (socket: Socket) => void): void {
    this.#socket.off('data', this.#receive).off('end', this.#left);
    this.#letGo();
    next(this.#socket);
  }

  #letGo(): void {
    this.#socket.off('close', this.#closed);
    this.#openings.closed(this.#socket);
  }

  readonly #left = (): void => this.destroy();

  readonly #closed = (): void => this.#openings.closed(this.#socket);
}

function ignored(): void {}
