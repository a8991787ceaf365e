/** Takes a body at its own pace. */
export interface BodySink {
  /** Returns whether it wants more now; if not, it calls the body's `resume` later. */
  chunk(bytes: Buffer): boolean;
  end(): void;
  /** The rest will not come. */
  fail(reason: unknown): void;
}

/** Hears how a body ends. */
export interface BodyWatcher {
  end(): void;
  /** Returns what the sink gets in place of the reason. */
  fail(reason: unknown): unknown;
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
  #watcher: BodyWatcher | null = null;

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

  /** `watcher` hears of the end first. */
  watch(watcher: BodyWatcher): void {
    this.#watcher = watcher;
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
    this.#watcher?.end();
    this.#finish(() => this.#sink!.end());
  }

  fail(reason: unknown): void {
    const failure = this.#watcher === null ? reason : this.#watcher.fail(reason);
    this.#finish(() => this.#sink!.fail(failure));
  }

  #finish(tell: () => void): void {
    if (this.#sink) tell();
    else this.#over = tell;
  }
}
