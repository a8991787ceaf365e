/** Milliseconds per event-loop turn. */
const TURN = 1;

export interface TurnTaker {
  takeTurn(): void;
}

/**
 * Serves pipelined requests for a limited time per event-loop turn, so other connections are read
 * in between.
 */
export function createTurnQueue() {
  const waiting = new Set<TurnTaker>();
  let scheduled = false;

  return {
    get busy(): boolean {
      return waiting.size > 0;
    },
    add(connection: TurnTaker): void {
      waiting.add(connection);
      schedule();
    },
  };

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(serve);
  }

  function serve(): void {
    const end = performance.now() + TURN;
    for (const connection of waiting) {
      waiting.delete(connection);
      connection.takeTurn();
      if (performance.now() >= end) break;
    }
    scheduled = false;
    if (waiting.size > 0) schedule();
  }
}

export type TurnQueue = ReturnType<typeof createTurnQueue>;
