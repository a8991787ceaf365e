import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { type ServerTls, ticketKeys } from './tls/server.ts';

/** A fixed set, safe as a metric label. */
export type HandshakeFailure =
  | 'closed'
  | 'timeout'
  | 'plaintext'
  | 'version'
  | 'protocol'
  | 'distrusted'
  | 'other';

export interface Handshakes {
  done(accepted: Socket, secured: TLSSocket): void;
  failed(accepted: Socket, why: HandshakeFailure): void;
}

/** Milliseconds. */
const LOOK = 60_000;

/** Events of TLS do not name the accepted socket. That of a socket that closed is not in this context. */
const handshake = new AsyncLocalStorage<Socket>();

export function createTlsServer(
  initial: ServerTls,
  secret: Uint8Array,
  { done, failed }: Handshakes,
) {
  let tls = initial;
  const unsecured = new Set<Socket>();
  const server = createServer({
    ...options(),
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, choose) => choose(null, tls.named(name)),
    // The owner has one deadline for the whole preamble; Node's restarts with each byte.
    handshakeTimeout: 0,
  });
  server.on('secureConnection', (secured) => {
    const accepted = handshake.getStore()!;
    secured.allowHalfOpen = true;
    unsecured.delete(accepted);
    done(accepted, secured);
  });
  server.on('tlsClientError', (error, secured) => {
    const accepted = handshake.getStore();
    secured.destroy();
    if (accepted !== undefined) end(accepted, reasonOf(error));
  });
  const timer = setInterval(
    () => server.setTicketKeys(ticketKeys(secret, Date.now())),
    LOOK,
  ).unref();

  return {
    use(next: ServerTls): void {
      tls = next;
      server.setSecureContext(options());
    },
    /** Bytes that were read and put back come first. */
    begin(accepted: Socket): void {
      // A client that closes its side during the handshake has disconnected.
      accepted.allowHalfOpen = false;
      unsecured.add(accepted);
      accepted.once('close', () => end(accepted, 'closed'));
      handshake.run(accepted, () => server.emit('connection', accepted));
    },
    stop: () => clearInterval(timer),
  };

  function end(accepted: Socket, why: HandshakeFailure): void {
    if (unsecured.delete(accepted)) failed(accepted, why);
  }

  function options() {
    return { ...tls.usual, ticketKeys: ticketKeys(secret, Date.now()) };
  }
}

export type TlsServer = ReturnType<typeof createTlsServer>;

function reasonOf({ code = '' }: NodeJS.ErrnoException): HandshakeFailure {
  if (code === 'ECONNRESET' || code === 'EPIPE') return 'closed';
  if (/ALERT.*(UNKNOWN_CA|CERTIFICATE)/.test(code)) return 'distrusted';
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return 'protocol';
  if (
    /PROTOCOL|VERSION|NO_SHARED|CIPHER|NO_SUITABLE|HANDSHAKE_FAILURE/.test(code)
  )
    return 'version';
  return 'other';
}
