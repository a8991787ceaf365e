/** Takes a body at its own pace. */
export interface BodySink {
  /** Returns whether it wants more now; if not, it calls the body's `resume` later. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  /** The rest will not come. */
  fail(reason: unknown): void;
}

export const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Carries a body from its connection to one sink. While there is no sink, or the sink wants no more, it pauses the connection,
 * so that memory holds one read.
 */
export class BodyStream {
  readonly #flow: { pause(): void; resume(): void };
  #waiting: Buffer[] = [];
  #sink: BodySink | null = null;
  #over: (() => void) | null = null;
  #told: (reason: unknown) => unknown = (reason) => reason;

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

  /** The sink is told of a failure as what `told` makes of it. */
  failsWith(told: (reason: unknown) => unknown): void {
    this.#told = told;
  }

  /** The sink calls this when it wants more. */
  resume(): void {
    this.#flow.resume();
  }

  /** The reader of the connection calls this. */
  push(chunk: Buffer): void {
    if (!this.#sink) this.#waiting.push(chunk);
    if (!this.#sink?.chunk(chunk)) this.#flow.pause();
  }

  end(): void {
    this.#finish(() => this.#sink!.end());
  }

  fail(reason: unknown): void {
    this.#finish(() => this.#sink!.fail(this.#told(reason)));
  }

  #finish(tell: () => void): void {
    if (this.#sink) tell();
    else this.#over = tell;
  }
}
