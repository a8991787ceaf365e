import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { Readable } from 'node:stream';
import type { PeerCertificate } from 'node:tls';

/** How to trust an https server, and to be trusted by it, in PEM. Node's own fetch can be told neither. */
export interface FetchTls {
  /** Who signs its certificate, if not one of the authorities that Node knows. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** Its certificate is one of these, whoever has signed it and whatever names it has. */
  readonly known?: readonly string[] | undefined;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** As `fetch`, and without redirects. Nothing of the request is sent to a server that is not trusted. */
export function httpsFetch(url: string, { ca, cert, key, known }: FetchTls, asked: Asked = {}): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = asked;
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const prints = known?.map((pem) => new X509Certificate(pem).fingerprint256);
  const call = request(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'Content-Length': `${Buffer.byteLength(body)}` }) },
    agent: false,
    ...(signal && { signal }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    // What is known is trusted as it is: it may be signed by nobody in particular.
    ...(prints !== undefined && {
      ca: [...known!],
      allowPartialTrustChain: true,
      checkServerIdentity: identity(prints),
    }),
  });
  call.on('error', reject).on('response', (message) => {
    const { statusCode = 0, statusMessage = '', headersDistinct } = message;
    const list = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    );
    const hasBody = statusCode !== 204 && statusCode !== 304;
    const stream = Readable.toWeb(message) as unknown as ReadableStream;
    resolve(new Response(hasBody ? stream : null, { status: statusCode, statusText: statusMessage, headers: list }));
  });
  call.end(body);
  return promise;
}

function identity(prints: readonly string[]) {
  return (_name: string, { fingerprint256 }: PeerCertificate): Error | undefined =>
    prints.includes(fingerprint256) ? undefined : new Error('its certificate is another one than in its files');
}
