import type { Duplex } from 'node:stream';
import type { BodySink, BodyStream } from './body-stream.ts';
import type { ClientError } from './client-error.ts';
import type { FieldLines } from './writing.ts';

/** A request to be sent. */
export interface Question {
  readonly method: string;
  /** Origin-form. */
  readonly target: string;
  /** Without those about framing and the connection. */
  readonly fields: FieldLines;
  /** Whole, or sent as it comes. */
  readonly body: Buffer | StreamedBody | null;
  /** For a question that asks for WebSocket (RFC 6455): takes the connection if the answer is 101. */
  readonly upgraded?: Upgraded;
}

export type Upgraded = (tunnel: Tunnel) => void;

/** A connection behind a change of its protocol. */
export interface Tunnel {
  readonly reason: string;
  /** Of the answer, flat. */
  readonly fields: readonly string[];
  /** Its listeners of `error` and `close` are there already. */
  readonly socket: Duplex;
  /** Bytes that came behind the answer. */
  readonly rest: Buffer | null;
}

export interface StreamedBody {
  /** In bytes; `null`: unknown. */
  readonly length: number | null;
  readBody(sink: BodySink): void;
  resumeBody(): void;
}

/** An answer, checked. `body`: whole if it came in one read with its head, otherwise a stream. */
export interface ClientAnswer {
  readonly status: number;
  /** As it was sent; often empty. */
  readonly reason: string;
  /** Flat, spelt as received. */
  readonly fields: readonly string[];
  readonly body: Buffer | BodyStream;
}

/** Takes the answer to one question: `begun` at the first byte, then `answer` or `fail`. */
export interface AnswerTaker {
  begun(): void;
  answer(answer: ClientAnswer): void;
  fail(error: ClientError): void;
}

/** Methods that have a body by their meaning: without one they say so (RFC 9110 section 8.6). */
const EXPECTS_BODY = new Set(['POST', 'PUT', 'PATCH']);
const TARGET = /^[!-~]+$/;

/** The head of a question as text, one character per byte. `host`: the value of Host. Throws for what cannot be sent. */
export function questionHead(
  { method, target, fields, body, upgraded }: Question,
  { host, basePath }: { readonly host: string; readonly basePath: string },
): string {
  if (!TARGET.test(target)) throw new Error('the target has a character that no target can have');
  const connection = upgraded ? 'Upgrade\r\nUpgrade: websocket' : 'keep-alive';
  const lines = fields.text + framing(method, body);
  return `${method} ${basePath}${target} HTTP/1.1\r\nHost: ${host}\r\n${lines}Connection: ${connection}\r\n\r\n`;
}

function framing(method: string, body: Question['body']): string {
  if (body === null) return EXPECTS_BODY.has(method) ? 'Content-Length: 0\r\n' : '';
  return body.length === null ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${body.length}\r\n`;
}
