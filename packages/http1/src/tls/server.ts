import { constants, hkdfSync, randomBytes } from 'node:crypto';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/** A certificate with its key, in PEM, and what is known of it; plain values, which can be sent to another process. */
export interface Pair {
  /** The file of the certificate, to be told. */
  readonly file: string;
  readonly cert: string;
  readonly key: string;
  /** The names it is for, in lower case, some with `*.` in front; without addresses. */
  readonly names: readonly string[];
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** What a listener has of its files. */
export interface ServerMaterial {
  /** At least one. The first is for callers that name no server, or an unknown one. */
  readonly pairs: readonly Pair[];
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** Who signs the certificates of callers, in PEM; `null`: they need none. */
  readonly clientCa: string | null;
}

/** The options of a listener, as Node takes them. */
export interface ServerTls {
  /** Of connections that name no server, or an unknown one. */
  readonly usual: SecureContextOptions;
  /** The context for the server that a caller names; `undefined`: the usual one. */
  readonly named: (server: string) => SecureContext | undefined;
}

/** TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption (RFC 9325 section 4.2), in OpenSSL's names. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE+AESGCM',
  'ECDHE+CHACHA20',
].join(':');

/** Sessions are resumed across all certificates of a gateway. */
const SESSIONS = 'storegate';

export function serverTls({ pairs, minVersion, clientCa }: ServerMaterial): ServerTls {
  const options = ({ cert, key }: Pair): SecureContextOptions => ({
    cert,
    key,
    minVersion,
    ciphers: CIPHERS,
    honorCipherOrder: true,
    sessionIdContext: SESSIONS,
    // A caller could make the gateway work by asking for new keys again and again.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa !== null && { ca: clientCa }),
  });
  const [first, ...others] = pairs as [Pair, ...Pair[]];
  const byName = new Map<string, SecureContext | undefined>();
  for (const name of first.names) byName.set(name, undefined);
  for (const pair of others) {
    const context = createSecureContext(options(pair));
    for (const name of pair.names) if (!byName.has(name)) byName.set(name, context);
  }
  return {
    usual: options(first),
    named(server) {
      const name = server.toLowerCase();
      if (byName.has(name)) return byName.get(name);
      // RFC 6125 section 6.4.3: a wildcard stands for one label.
      return byName.get(`*${name.slice(name.indexOf('.'))}`);
    },
  };
}

/** Milliseconds for which tickets of sessions are made, and taken, with one key. */
const TICKET_KEYS = 86_400_000;

/**
 * The key for tickets of sessions at a time. All processes of a gateway have the same secret, so that each can resume what another
 * began, and nobody needs to be told of a new key.
 */
export function ticketKeys(secret: Uint8Array, now: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `storegate tickets ${Math.floor(now / TICKET_KEYS)}`, 48));
}

/** For one run of a gateway: tickets of another run are worth nothing. */
export function makeTicketSecret(): Uint8Array {
  return new Uint8Array(randomBytes(32));
}
