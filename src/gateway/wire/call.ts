import type { Socket } from 'node:net';
import type { BodySink, FieldLines } from '@storegate/http1';

/**
 * One request and its response on any transport: all that stages see of a connection. After the client has
 * disconnected, every method does nothing.
 */
export interface Call {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: CallFields;
  /** Bytes of the body by its head: 0 for none, `chunked` for unknown. */
  readonly framing: number | 'chunked';
  readonly hasBody: boolean;
  /** Bytes of the body received. */
  readonly bodyBytes: number;
  readonly bodyWhole: boolean;
  /** Why the rest of the body will not arrive; `null` while it may. */
  readonly bodyError: Error | null;
  /** The same object for all calls of one connection. */
  readonly connection: object;
  /** The remote address, as the system writes it. */
  readonly peer: string;
  /** Whether the client uses TLS, here or with the balancer in front. */
  readonly secure: boolean;
  /** Whether the connection may stay open after the response. May be set to false until the response has begun. */
  keepAlive: boolean;
  /** Of the response; 0 before it has begun. */
  readonly status: number;
  readonly begun: boolean;
  /** The client disconnected before its response was complete. */
  readonly left: boolean;

  /** Streams the body to `sink` from its first byte. Called once. */
  readBody(sink: BodySink): void;
  resumeBody(): void;
  /** Reads and drops the rest of the body. */
  dropBody(): void;
  sendContinue(): void;
  /** Sends a whole response. Text in `body` has one character per byte. */
  answer(status: number, reason: string, fields: FieldLines, body: string | Buffer): void;
  /**
   * Begins a response whose body follows by `write` and `end`. The head leaves with the first of them, or by `flush`.
   */
  begin(status: number, reason: string, fields: FieldLines): void;
  flush(): void;
  /** Returns whether it can take more now; if not, `drain` is called later. */
  write(bytes: Buffer, drain: () => void): boolean;
  end(): void;
  /** Closes the connection without a further byte. */
  cutOff(): void;
  /** `ended` is called once: when the whole response was handed to the system, or the client disconnected. */
  whenEnded(ended: () => void): void;
  /** Releases the connection for another protocol after a 101 response. `rest`: bytes after the request. */
  switchProtocols(reason: string, fields: FieldLines): { readonly socket: Socket; readonly rest: Buffer | null };
}

export interface CallFields {
  /** Flat, in order, spelt as received: name, value, … */
  readonly list: readonly string[];
  /** Cached with the fields, which many calls may share. */
  meaning: unknown;
}
