import type { Socket } from 'node:net';
import type { BodySink, FieldLines } from '@storegate/http1';

/** After the client has disconnected, every method does nothing. */
export interface Call {
  readonly method: string;
  readonly target: string;
  readonly minor: 0 | 1;
  readonly fields: CallFields;
  /** 0 for no body, `chunked` for unknown. */
  readonly framing: number | 'chunked';
  readonly hasBody: boolean;
  readonly bodyBytes: number;
  readonly bodyWhole: boolean;
  /** Why the rest of the body will not arrive; `null` while it may. */
  readonly bodyError: Error | null;
  /** The same object for all calls of one connection. */
  readonly connection: object;
  readonly peer: string;
  /** Here or with the balancer in front. */
  readonly secure: boolean;
  /** May be set to false until the response has begun. */
  keepAlive: boolean;
  /** 0 before the response has begun. */
  readonly status: number;
  readonly begun: boolean;
  readonly left: boolean;

  /** Called once. */
  readBody(sink: BodySink): void;
  resumeBody(): void;
  dropBody(): void;
  sendContinue(): void;
  /** Text in `body` has one character per byte. */
  answer(status: number, reason: string, fields: FieldLines, body: string | Buffer): void;
  /** The head leaves with the first `write` or `end`, or by `flush`. */
  begin(status: number, reason: string, fields: FieldLines): void;
  flush(): void;
  /** If it returns false, `drain` is called later. */
  write(bytes: Buffer, drain: () => void): boolean;
  end(): void;
  cutOff(): void;
  /** Called once. */
  whenEnded(ended: () => void): void;
  /** After a 101 response. `rest`: bytes after the request. */
  switchProtocols(reason: string, fields: FieldLines): { readonly socket: Socket; readonly rest: Buffer | null };
}

export interface CallFields {
  /** Flat: name, value, … */
  readonly list: readonly string[];
  /** Many calls may share the fields. */
  meaning: unknown;
}
