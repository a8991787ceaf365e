/** Runs `work` some time after the first `plan`. An idle process then has no timer. */
export class DelayedRun {
  readonly #work: () => void;
  readonly #delay: number;
  #timer: NodeJS.Timeout | null = null;

  /** `delay`: milliseconds. */
  constructor(work: () => void, delay: number) {
    this.#work = work;
    this.#delay = delay;
  }

  /** Without effect while a run is planned. */
  plan(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#work();
    }, this.#delay).unref();
  }

  /** A cleared timer stays, so that no other starts. */
  close(): void {
    this.plan();
    clearTimeout(this.#timer!);
  }
}
