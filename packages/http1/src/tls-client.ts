import type { Socket, TcpSocketConnectOpts } from 'node:net';
import { connect } from 'node:tls';
import { type ClientTls, tlsTrouble } from './tls/client.ts';

/**
 * `server` is for messages. Sessions are resumed while `tls` returns the same object; a renewed
 * certificate starts a new session.
 */
export function tlsTo(
  server: string,
  name: string,
  tls: () => ClientTls,
): (to: TcpSocketConnectOpts) => Socket {
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

function inWords(server: string, error: NodeJS.ErrnoException): string {
  const { code = '', message } = error;
  switch (tlsTrouble(error)) {
    case 'issuer':
      return `the certificate of ${server} is not trusted (${message}): set tls.ca to the file of its CA`;
    case 'name':
      return `the certificate of ${server} is for another name (${message}): set tls.serverName to the right one`;
    case 'certificate':
      return `the certificate of ${server} is not good (${message})`;
    case 'refused':
      return `${server} does not take the gateway's certificate, or wants one (${code}): see the settings tls.cert and tls.key`;
    case 'no_tls':
      return `${server} does not speak TLS: is its URL one of http?`;
    case 'other':
      return `TLS to ${server} failed (${code})`;
    case null:
      return message;
  }
}
