import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Server, ServerOptions } from '@storegate/http1';
import { type HandshakeFailure, TlsServer } from '@storegate/http1';
import { type ServerMaterial, serverTls } from '@storegate/http1/tls';
import { plainAddress, trustedProxies } from '../../callers/address.ts';
import type { Observe } from '../../observe/events.ts';

export interface PreambleSettings {
  /** `null`: no TLS. */
  readonly tls: ServerMaterial | null;
  /** They send a PROXY protocol header. */
  readonly balancers: readonly string[];
}

export interface WirePreamble {
  use(server: Server, settings: PreambleSettings): void;
  stop(): void;
}

export function createPreamble(ticketSecret: Uint8Array): WirePreamble {
  let tls: TlsServer | null = null;

  function tlsFor(server: Server, material: ServerMaterial | null): TlsServer | null {
    if (material === null) {
      tls?.stop();
      return null;
    }
    const options = serverTls(material);
    if (tls === null) {
      return new TlsServer(options, ticketSecret, {
        done: (accepted, secured) => server.handshaken(accepted, secured),
        failed: (accepted, why) => server.unshaken(accepted, why),
      });
    }
    tls.use(options);
    return tls;
  }

  return {
    use(server, settings) {
      tls = tlsFor(server, settings.tls);
      const balancers = settings.balancers.length === 0 ? null : trustedProxies(settings.balancers);
      server.use({ tls, announces: balancers && ((address) => balancers.has(plainAddress(address))) });
    },
    stop: () => tls?.stop(),
  };
}

export function preambleEvents(observe: Observe): NonNullable<ServerOptions['openings']> {
  return {
    secured: (socket: TLSSocket) =>
      observe({ type: 'tls.established', version: socket.getProtocol() ?? 'none', resumed: socket.isSessionReused() }),
    unsecured: (socket, why) => unsecured(observe, socket, why),
    unannounced: (socket, why) =>
      observe({ type: 'proxy.refused', reason: why, address: plainAddress(socket.remoteAddress) }),
  };
}

function unsecured(observe: Observe, { remoteAddress }: Socket, reason: HandshakeFailure): void {
  observe({ type: 'tls.failed', reason, address: plainAddress(remoteAddress) });
}
