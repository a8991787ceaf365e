import { X509Certificate } from 'node:crypto';
import type { ClientRequest, RequestOptions } from 'node:http';
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

/** Where a request goes that Node's own fetch cannot send. */
interface FetchWay {
  readonly tls?: FetchTls | null;
  /** The path of a Unix socket, in place of host and port. */
  readonly socketPath?: string | undefined;
}

export interface Outgoing {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

/** Follows no redirects, and sends nothing to an untrusted server. */
export function httpFetch(
  url: string,
  { tls, socketPath }: FetchWay,
  outgoing: Outgoing = {},
): Promise<Response> {
  const { method = 'GET', headers = {}, body, signal } = outgoing;
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const call = requestTo(url, {
    method,
    headers: {
      ...headers,
      ...(body !== undefined && {
        'Content-Length': `${Buffer.byteLength(body)}`,
      }),
    },
    agent: false,
    ...(signal && { signal }),
    ...(socketPath !== undefined && { socketPath }),
    ...(tls && tlsOptions(tls)),
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

/** Importing these modules reads all their exports, and so loads undici. */
function requestTo(url: string, options: RequestOptions): ClientRequest {
  const name = url.startsWith('https:') ? 'node:https' : 'node:http';
  return process.getBuiltinModule(name).request(url, options);
}

function tlsOptions({ ca, cert, key, known: existing }: FetchTls): object {
  const prints = existing?.map(
    (pem) => new X509Certificate(pem).fingerprint256,
  );
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && key !== undefined && { cert, key }),
    // A pinned certificate may be self-signed.
    ...(prints !== undefined && {
      ca: [...existing!],
      allowPartialTrustChain: true,
      checkServerIdentity: identity(prints),
    }),
  };
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
