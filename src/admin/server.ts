import type { RequestListener, Server } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type ServerMaterial, serverTls } from '@storegate/http1/tls';

// Importing node:http loads undici, 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

export interface AdminServer {
  readonly server: Server;
  use(tls: ServerMaterial | null): void;
}

const LIMITS = { requestTimeout: 30_000, headersTimeout: 10_000 };
/** Milliseconds for a handshake. */
const HANDSHAKE = 10_000;

/** `tls`: `null` for plain HTTP. */
export function createAdminServer(tls: ServerMaterial | null, listener: RequestListener): AdminServer {
  if (tls === null) return { server: createServer(LIMITS, listener), use: () => {} };
  let { usual, named } = serverTls(tls);
  const options: ServerOptions = {
    ...LIMITS,
    ...usual,
    handshakeTimeout: HANDSHAKE,
    ALPNProtocols: ['http/1.1'],
    SNICallback: (name, choose) => choose(null, named(name)),
    // Clients without a certificate fail in the handshake.
    requestCert: tls.clientCa !== null,
    rejectUnauthorized: true,
  };
  const server = createTlsServer(options, listener);
  return {
    server,
    use(next) {
      if (next === null) return;
      ({ usual, named } = serverTls(next));
      server.setSecureContext(usual);
    },
  };
}
