/** An answer of the store, as a value: steps between the store and the caller may read it, replace it or make another. */
export interface StoreAnswer {
  /** 200 to 599. */
  readonly status: number;
  /** As the store wrote it; empty: the usual one. */
  readonly reason: string;
  /** Header fields that may reach a caller, flat: name in small letters, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: AnswerBody;
}

/** The body of an answer: whole where it came with the head, which is the usual case, or still on its way. */
export type AnswerBody = Buffer | BodyStream;

/** Takes a body at its own pace. */
export interface BodySink {
  /** Answers whether it wants more now; where not, it calls `resume` of the body later. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  /** The rest will not come. */
  fail(error: Error): void;
}

export const EMPTY: Buffer = Buffer.alloc(0);

/**
 * A body on its way: what comes from the store goes to one sink. Before there is a sink, and while the sink wants no more,
 * the store's connection is paused, so that memory holds one read of it.
 */
export class BodyStream {
  readonly #flow: { pause(): void; resume(): void };
  #waiting: Buffer[] = [];
  #sink: BodySink | null = null;
  #over: (() => void) | null = null;

  constructor(flow: { pause(): void; resume(): void }) {
    this.#flow = flow;
  }

  /** Hands the body to `sink`, from its first byte. Once. */
  to(sink: BodySink): void {
    this.#sink = sink;
    const waiting = this.#waiting;
    this.#waiting = [];
    let more = true;
    for (const chunk of waiting) more = sink.chunk(chunk);
    if (this.#over) this.#over();
    else if (more && waiting.length > 0) this.#flow.resume();
  }

  /** The sink wants more. */
  resume(): void {
    this.#flow.resume();
  }

  /** For whoever reads from the store. */
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

/** The value of a field of a flat list, by its name in small letters; several lines are one list (RFC 9110 section 5.3). */
export function fieldIn(headers: readonly string[], name: string): string | undefined {
  let value: string | undefined;
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i] === name) value = value === undefined ? headers[i + 1]! : `${value}, ${headers[i + 1]!}`;
  }
  return value;
}
