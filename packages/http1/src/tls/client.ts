import { isIP } from 'node:net';
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
} from 'node:tls';

export interface ClientMaterial {
  /** `null`: those of Node and NODE_EXTRA_CA_CERTS. */
  readonly ca: string | null;
  readonly cert: string | null;
  readonly key: string | null;
  /** `null`: the host of the URL. */
  readonly serverName: string | null;
}

/** The same object until something changes. */
export type ClientTls = Readonly<
  Pick<
    ConnectionOptions,
    'secureContext' | 'servername' | 'checkServerIdentity'
  >
>;

export function clientTls(material: ClientMaterial | null): ClientTls {
  if (material === null) return {};
  const { ca, cert, key, serverName } = material;
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca !== null && { ca }),
    ...(cert !== null && key !== null && { cert, key }),
  });
  if (serverName === null) return { secureContext };
  // RFC 6066 section 3: an address is never sent as a name.
  const servername = isIP(serverName) === 0 ? serverName : '';
  return {
    secureContext,
    servername,
    checkServerIdentity: (_, found) => checkServerIdentity(serverName, found),
  };
}

const UNKNOWN_ISSUER = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

export type TlsTrouble =
  | 'issuer'
  | 'name'
  | 'certificate'
  | 'refused'
  | 'no_tls'
  | 'other';

export function tlsTrouble(error: unknown): TlsTrouble | null {
  const { code } = Object(error) as { code?: unknown };
  if (typeof code !== 'string') return null;
  if (UNKNOWN_ISSUER.has(code)) return 'issuer';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'name';
  if (code.startsWith('CERT_')) return 'certificate';
  if (/ALERT.*(CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/.test(code))
    return 'refused';
  if (
    code === 'ERR_SSL_WRONG_VERSION_NUMBER' ||
    code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG'
  )
    return 'no_tls';
  return code.startsWith('ERR_SSL') ? 'other' : null;
}
