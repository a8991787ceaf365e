/** An answer of the store as a value. Steps between the store and the caller may read it or replace it. */
export interface StoreAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** The reason phrase as the store wrote it; empty for the usual one. */
  readonly reason: string;
  /** Header fields that may reach a caller, flat: name in lower case, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: AnswerBody;
}

/** The body of an answer: a Buffer if it came with the head, as most do; otherwise a stream. */
export type AnswerBody = Buffer | BodyStream;

/** Takes a body at its own pace. */
export interface BodySink {
  /** Returns whether it wants more now; if not, it calls the body's `resume` later. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  /** The rest will not come. */
  fail(error: Error): void;
}

export const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Carries a body from the store to one sink. While there is no sink, or the sink wants no more, it pauses the store's
 * connection, so that memory holds one read.
 */
export class BodyStream {
  readonly #flow: { pause(): void; resume(): void };
  #waiting: Buffer[] = [];
  #sink: BodySink | null = null;
  #over: (() => void) | null = null;

  constructor(flow: { pause(): void; resume(): void }) {
    this.#flow = flow;
  }

  /** Hands the body to `sink` from its first byte. Called once. */
  to(sink: BodySink): void {
    this.#sink = sink;
    const waiting = this.#waiting;
    this.#waiting = [];
    let more = true;
    for (const chunk of waiting) more = sink.chunk(chunk);
    if (this.#over) this.#over();
    else if (more && waiting.length > 0) this.#flow.resume();
  }

  /** The sink calls this when it wants more. */
  resume(): void {
    this.#flow.resume();
  }

  /** The reader of the store's connection calls this. */
  push(chunk: Buffer): void {
    if (!this.#sink) this.#waiting.push(chunk);
    if (!this.#sink?.chunk(chunk)) this.#flow.pause();
  }

  end(): void {
    this.#finish(() => this.#sink!.end());
  }

  fail(error: Error): void {
    this.#finish(() => this.#sink!.fail(error));
  }

  #finish(tell: () => void): void {
    if (this.#sink) tell();
    else this.#over = tell;
  }
}

/** The value of a field in a flat list, by its lower-case name. Several lines form one list (RFC 9110 section 5.3). */
export function fieldIn(headers: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) value = value === undefined ? headers[i + 1]! : `${value}, ${headers[i + 1]!}`;
  }
  return value;
}
