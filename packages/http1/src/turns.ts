/** Milliseconds of each turn of the event loop in which waiting connections are served. */
const TURN = 1;

/** Goes on where it gave up its turn. */
export interface TurnTaker {
  takeTurn(): void;
}

/**
 * Connections with pipelined requests that gave up their turn. Each turn of the event loop serves them in their order for 1 ms, so that
 * other connections are read in between.
 */
export class Turns {
  readonly #waiting = new Set<TurnTaker>();
  #scheduled = false;

  /** Whether connections wait. */
  get busy(): boolean {
    return this.#waiting.size > 0;
  }

  add(connection: TurnTaker): void {
    this.#waiting.add(connection);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#serve());
  }

  #serve(): void {
    const end = performance.now() + TURN;
    for (const connection of this.#waiting) {
      this.#waiting.delete(connection);
      connection.takeTurn();
      if (performance.now() >= end) break;
    }
    this.#scheduled = false;
    if (this.#waiting.size > 0) this.#schedule();
  }
}
