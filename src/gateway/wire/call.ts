import type { Socket } from 'node:net';
import type { BodySink, FieldLines } from '@storegate/http1';

/**
 * One request and its one answer, whatever carries them: all that stages see of a connection. After the caller has left,
 * every method does nothing.
 */
export interface Call {
  readonly method: string;
  /** As it was sent. */
  readonly target: string;
  /** Of the version HTTP/1.x. */
  readonly minor: 0 | 1;
  readonly fields: CallFields;
  /** Bytes of the body that the head tells of: 0 for none, `chunked` for unknown. */
  readonly framing: number | 'chunked';
  readonly hasBody: boolean;
  /** Bytes of the body that have come. */
  readonly bodyBytes: number;
  /** Whether the whole body has come. */
  readonly bodyWhole: boolean;
  /** Why the rest of the body will not come; `null` while it may. */
  readonly bodyError: Error | null;
  /** The same object for all calls of one connection. */
  readonly connection: object;
  /** The address of the other side, as the system writes it. */
  readonly peer: string;
  /** Whether the caller speaks TLS, here or with the balancer in front. */
  readonly secure: boolean;
  /** Whether the connection may go on behind the answer. May be set to false until the answer has begun. */
  keepAlive: boolean;
  /** Of the answer; 0 while it has not begun. */
  readonly status: number;
  readonly begun: boolean;
  /** The caller has gone before its answer was whole. */
  readonly left: boolean;

  /** Hands the body to `sink` from its first byte. Called once. */
  readBody(sink: BodySink): void;
  resumeBody(): void;
  /** What still comes of the body is read and dropped. */
  dropBody(): void;
  sendContinue(): void;
  /** The whole answer. `body`: text has one character per byte. */
  answer(status: number, reason: string, fields: FieldLines, body: string | Buffer): void;
  /** Begins an answer whose body follows by `write` and `end`. The head leaves with the first of them, or by `flush`. */
  begin(status: number, reason: string, fields: FieldLines): void;
  flush(): void;
  /** Returns whether more is wanted now; if not, `drain` is called later. */
  write(bytes: Buffer, drain: () => void): boolean;
  end(): void;
  /** Ends the connection without a further byte. */
  cutOff(): void;
  /** `ended` is called once: when the answer has been handed to the system as a whole, or the caller has left. */
  whenEnded(ended: () => void): void;
  /** Gives the connection up for another protocol, which the answer 101 begins. `rest`: bytes behind the request. */
  switchProtocols(reason: string, fields: FieldLines): { readonly socket: Socket; readonly rest: Buffer | null };
}

export interface CallFields {
  /** Flat, in order, spelt as received: name, value, … */
  readonly list: readonly string[];
  /** Kept with the fields, which may be those of many calls. */
  meaning: unknown;
}
