/** Milliseconds per event-loop turn. */
const TURN = 1;

export interface TurnTaker {
  takeTurn(): void;
}

/**
 * Serves pipelined requests for a limited time per event-loop turn, so other connections are read
 * in between.
 */
export class TurnQueue {
  readonly #waiting = new Set<TurnTaker>();
  #scheduled = false;

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
