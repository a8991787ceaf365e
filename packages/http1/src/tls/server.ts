import { constants, hkdfSync, randomBytes } from 'node:crypto';
import {
  createSecureContext,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';

export interface Pair {
  readonly file: string;
  readonly cert: string;
  readonly key: string;
  /** In lower case, some with `*.` in front. */
  readonly names: readonly string[];
  /** Unix milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

export interface ServerMaterial {
  /** The first is the default. */
  readonly pairs: readonly Pair[];
  readonly minVersion: 'TLSv1.2' | 'TLSv1.3';
  /** `null` if no client certificates are required. */
  readonly clientCa: string | null;
}

export interface ServerTls {
  /** For an unknown or no server name. */
  readonly usual: SecureContextOptions;
  readonly named: (server: string) => SecureContext | undefined;
}

/**
 * TLS 1.3, and of TLS 1.2 what has forward secrecy and authenticated encryption (RFC 9325 section
 * 4.2).
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE+AESGCM',
  'ECDHE+CHACHA20',
].join(':');

/** Sessions are resumed across all certificates of a gateway. */
const SESSIONS = 'storegate';

export function serverTls({
  pairs,
  minVersion,
  clientCa,
}: ServerMaterial): ServerTls {
  const options = ({ cert, key }: Pair): SecureContextOptions => ({
    cert,
    key,
    minVersion,
    ciphers: CIPHERS,
    honorCipherOrder: true,
    sessionIdContext: SESSIONS,
    // A client could cause load by renegotiating repeatedly.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ...(clientCa !== null && { ca: clientCa }),
  });
  const [first, ...others] = pairs as [Pair, ...Pair[]];
  const byName = new Map<string, SecureContext | undefined>();
  for (const name of first.names) byName.set(name, undefined);
  for (const pair of others) {
    const context = createSecureContext(options(pair));
    for (const name of pair.names)
      if (!byName.has(name)) byName.set(name, context);
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

/** Milliseconds. */
const TICKET_KEYS = 86_400_000;

/** Shared by all processes, which can therefore resume each other's sessions. */
export function ticketKeys(secret: Uint8Array, now: number): Buffer {
  return Buffer.from(
    hkdfSync(
      'sha256',
      secret,
      '',
      `storegate tickets ${Math.floor(now / TICKET_KEYS)}`,
      48,
    ),
  );
}

/** Tickets of another run are invalid. */
export function makeTicketSecret(): Uint8Array {
  return new Uint8Array(randomBytes(32));
}
