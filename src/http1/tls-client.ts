import type { Socket, TcpSocketConnectOpts } from 'node:net';
import { connect } from 'node:tls';
import type { ClientTls } from '../tls/client.ts';

/** Codes of OpenSSL for a certificate whose issuer nobody trusts. */
const UNKNOWN_ISSUER = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/**
 * Opens connections of TLS to `server`, host and port as people know it, under `name` unless `tls` has another. A session is
 * resumed as long as `tls` returns the same object: a renewed certificate begins with a new one.
 */
export function tlsTo(server: string, name: string, tls: () => ClientTls): (to: TcpSocketConnectOpts) => Socket {
  let last: ClientTls | null = null;
  let session: Buffer | undefined;
  return (to) => {
    const now = tls();
    if (now !== last) session = undefined;
    last = now;
    const socket = connect({
      servername: name,
      ...to,
      ...now,
      ALPNProtocols: ['http/1.1'],
      ...(session && { session }),
    });
    return socket
      .on('session', (made) => {
        if (now === last) session = made;
      })
      .on('error', (error: NodeJS.ErrnoException) => {
        session = undefined;
        error.message = inWords(server, error);
      });
  };
}

/** What went wrong, for a log: the server, and what to do about its certificate. */
function inWords(server: string, { code = '', message }: NodeJS.ErrnoException): string {
  if (UNKNOWN_ISSUER.has(code)) {
    return `nobody trusted has signed the certificate of ${server} (${message}): name its authority's file in the setting tls.ca`;
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return `the certificate of ${server} is for another name (${message}): the setting tls.serverName tells which is right`;
  }
  if (code.startsWith('CERT_')) return `the certificate of ${server} is not good (${message})`;
  if (/ALERT.*(CERTIFICATE|UNKNOWN_CA|HANDSHAKE_FAILURE)/.test(code)) {
    return `${server} does not take the gateway's certificate, or wants one (${code}): see the settings tls.cert and tls.key`;
  }
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG') {
    return `${server} does not speak TLS: is its URL one of http?`;
  }
  return code.startsWith('ERR_SSL') ? `TLS to ${server} failed (${code})` : message;
}
