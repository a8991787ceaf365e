import type { Duplex } from 'node:stream';
import type { BodySink, BodyStream } from './body-stream.ts';
import type { ClientError } from './client-error.ts';
import type { FieldLines } from './field-lines.ts';
import type { Fields } from './fields.ts';
import type { ResponseHead } from './heads.ts';

export interface ClientRequest {
  readonly method: string;
  /** Origin-form. */
  readonly target: string;
  /** Without framing and connection fields. */
  readonly fields: FieldLines;
  readonly body: Buffer | StreamedBody | null;
  /** In place of that of the connection. */
  readonly headersTimeout?: number | null;
  /** After a 101 response that accepts the WebSocket handshake in `fields` (RFC 6455). */
  readonly upgraded?: (tunnel: Tunnel) => void;
}

export interface Tunnel {
  readonly reason: string;
  readonly fields: Fields;
  /** Its `error` and `close` listeners are already attached. */
  readonly socket: Duplex;
  readonly rest: Buffer | null;
}

export interface StreamedBody {
  /** In bytes; `null` if unknown. */
  readonly length: number | null;
  readBody(sink: BodySink): void;
  resumeBody(): void;
}

/** A Buffer `body` arrived in one read with its head. */
export interface ClientResponse extends ResponseHead {
  readonly body: Buffer | BodyStream;
}

export interface ResponseReceiver {
  begun(): void;
  receive(response: ClientResponse): void;
  fail(error: ClientError): void;
}

/** Without a body they send Content-Length: 0 (RFC 9110 section 8.6). */
const EXPECTS_BODY = new Set(['POST', 'PUT', 'PATCH']);
const TARGET = /^[!-~]+$/;

/** One character per byte. Throws for a request that cannot be sent. */
export function requestHead(
  { method, target, fields, body, upgraded }: ClientRequest,
  { host, basePath }: { readonly host: string; readonly basePath: string },
): string {
  if (!TARGET.test(target))
    throw new Error('the target has a character that no target can have');
  const connection = upgraded ? 'Upgrade\r\nUpgrade: websocket' : 'keep-alive';
  const lines = fields.text + framing(method, body);
  return `${method} ${basePath}${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}Connection: ${connection}\r\n\r\n`;
}

function framing(method: string, body: ClientRequest['body']): string {
  if (body === null)
    return EXPECTS_BODY.has(method) ? 'Content-Length: 0\r\n' : '';
  return body.length === null
    ? 'Transfer-Encoding: chunked\r\n'
    : `Content-Length: ${body.length}\r\n`;
}
