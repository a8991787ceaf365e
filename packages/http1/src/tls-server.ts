import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { type ServerTls, ticketKeys } from './tls/server.ts';

/** Why a handshake came to nothing; a fixed set, safe as a metric label. */
export type HandshakeFailure = 'left' | 'late' | 'plain' | 'version' | 'protocol' | 'distrusted' | 'other';

/** What becomes of connections that are given to `begin`. */
export interface Handshakes {
  done(accepted: Socket, secured: TLSSocket): void;
  failed(accepted: Socket, why: HandshakeFailure): void;
}

/** Milliseconds between two looks whether there is a new key for tickets. */
const LOOK = 60_000;

/** The socket below, as Node itself keeps it. */
interface OverTcp extends TLSSocket {
  readonly _parent: Socket;
}

/** Takes connections that were accepted, and speaks TLS on them. It listens nowhere. */
export class TlsServer {
  readonly #server: Server;
  readonly #secret: Uint8Array;
  readonly #timer: NodeJS.Timeout;
  #tls: ServerTls;

  /** `secret`: for tickets of sessions, the same for all processes of a gateway. */
  constructor(tls: ServerTls, secret: Uint8Array, { done, failed }: Handshakes) {
    this.#tls = tls;
    this.#secret = secret;
    this.#server = createServer({
      ...this.#options(),
      ALPNProtocols: ['http/1.1'],
      SNICallback: (name, choose) => choose(null, this.#tls.named(name)),
      // Whoever opens connections has a deadline for all of it; Node's begins again with each byte.
      handshakeTimeout: 0,
    });
    this.#server.on('secureConnection', (secured) => {
      secured.allowHalfOpen = true;
      done((secured as OverTcp)._parent, secured);
    });
    this.#server.on('tlsClientError', (error, secured) => {
      failed((secured as OverTcp)._parent, reasonOf(error));
      secured.destroy();
    });
    this.#timer = setInterval(() => this.#server.setTicketKeys(ticketKeys(secret, Date.now())), LOOK).unref();
  }

  /** For connections that begin from now on. */
  use(tls: ServerTls): void {
    this.#tls = tls;
    this.#server.setSecureContext(this.#options());
  }

  /** What was read of the connection and put back comes first. */
  begin(accepted: Socket): void {
    // A caller that ends its side amidst the handshake has left.
    accepted.allowHalfOpen = false;
    this.#server.emit('connection', accepted);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #options() {
    return { ...this.#tls.usual, ticketKeys: ticketKeys(this.#secret, Date.now()) };
  }
}

function reasonOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'left';
  if (/ALERT.*(UNKNOWN_CA|CERTIFICATE)/.test(code)) return 'distrusted';
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return 'protocol';
  if (/PROTOCOL|VERSION|NO_SHARED|CIPHER|NO_SUITABLE|HANDSHAKE_FAILURE/.test(code)) return 'version';
  return 'other';
}
