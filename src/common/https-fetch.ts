import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { Readable } from 'node:stream';
import type { PeerCertificate } from 'node:tls';

/** In PEM. Node's own fetch has no TLS options. */
export interface FetchTls {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Accept exactly these certificates, whatever their issuer and names. */
  readonly known?: readonly string[] | undefined;
}

interface HttpsRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Follows no redirects, and sends nothing to an untrusted server. */
export function httpsFetch(
  url: string,
  { ca, cert, key, known }: FetchTls,
  outgoing: HttpsRequest = {},
): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = outgoing;
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const prints = known?.map((pem) => new X509Certificate(pem).fingerprint256);
  const call = request(url, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && {
        'Content-Length': `${Buffer.byteLength(body)}`,
      }),
    },
    agent: false,
    ...(signal && { signal }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    // A pinned certificate may be self-signed.
    ...(prints !== undefined && {
      ca: [...known!],
      allowPartialTrustChain: true,
      checkServerIdentity: identity(prints),
    }),
  });
  call.on('error', reject).on('response', (message) => {
    const { statusCode = 0, statusMessage = '', headersDistinct } = message;
    const list = Object.entries(headersDistinct).flatMap(
      ([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
    );
    const hasBody = statusCode !== 204 && statusCode !== 304;
    const stream = Readable.toWeb(message) as unknown as ReadableStream;
    resolve(
      new Response(hasBody ? stream : null, {
        status: statusCode,
        statusText: statusMessage,
        headers: list,
      }),
    );
  });
  call.end(body);
  return promise;
}

function identity(prints: readonly string[]) {
  return (
    _name: string,
    { fingerprint256 }: PeerCertificate,
  ): Error | undefined =>
    prints.includes(fingerprint256)
      ? undefined
      : new Error('its certificate is another one than in its files');
}
