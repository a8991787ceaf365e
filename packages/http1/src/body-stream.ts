export interface BodySink {
  /**
   * `bytes` are valid only during the call. If it returns false, it calls the body's `resume`
   * later.
   */
  chunk(bytes: Buffer): boolean;
  end(): void;
  fail(reason: unknown): void;
}

export interface BodyWatcher {
  end(): void;
  /** Returns the reason that the sink receives. */
  fail(reason: unknown): unknown;
}

export const EMPTY: Buffer = Buffer.alloc(0);

/** Pauses the connection while no sink takes more, so memory holds one read. */
export class BodyStream {
  readonly #flow: { pause(): void; resume(): void };
  #waiting: Buffer[] = [];
  #sink: BodySink | null = null;
  #over: (() => void) | null = null;
  #watcher: BodyWatcher | null = null;

  constructor(flow: { pause(): void; resume(): void }) {
    this.#flow = flow;
  }

  /** Called once. */
  to(sink: BodySink): void {
    this.#sink = sink;
    const waiting = this.#waiting;
    this.#waiting = [];
    let more = true;
    for (const chunk of waiting) more = sink.chunk(chunk);
    if (this.#over) this.#over();
    else if (more && waiting.length > 0) this.#flow.resume();
  }

  /** `watcher` is notified of the end before the sink. */
  watch(watcher: BodyWatcher): void {
    this.#watcher = watcher;
  }

  resume(): void {
    this.#flow.resume();
  }

  push(chunk: Buffer): void {
    if (!this.#sink) this.#waiting.push(Buffer.from(chunk));
    if (!this.#sink?.chunk(chunk)) this.#flow.pause();
  }

  end(): void {
    this.#watcher?.end();
    this.#finish(() => this.#sink!.end());
  }

  fail(reason: unknown): void {
    const failure =
      this.#watcher === null ? reason : this.#watcher.fail(reason);
    this.#finish(() => this.#sink!.fail(failure));
  }

  #finish(end: () => void): void {
    if (this.#sink) end();
    else this.#over = end;
  }
}
