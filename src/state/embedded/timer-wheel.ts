/**
 * Knows when each subject may be forgotten: a timer wheel with one slot per `grain`. A subject stands in one slot. When
 * that slot is due, the subject is looked at; if it still matters, it moves to the slot where it is due next. So requests
 * pay nothing for it, and nothing ever walks through all subjects.
 */
export class TimerWheel {
  readonly #grain: number;
  readonly #slots = new Map<number, string[]>();
  #next = 0;

  /** `grain`: milliseconds per slot. A subject is forgotten at most so much too late. */
  constructor(grain: number) {
    this.#grain = grain;
  }

  /** Has `subject` looked at when `at` (Unix milliseconds) has passed. */
  schedule(subject: string, at: number): void {
    const slot = Math.max(Math.floor(at / this.#grain) + 1, this.#next);
    const subjects = this.#slots.get(slot);
    if (subjects) subjects.push(subject);
    else this.#slots.set(slot, [subject]);
  }

  /** Takes up to `most` subjects that are due at `now`. If it answers fewer, none is left. */
  takeDue(now: number, most: number): string[] {
    const current = Math.floor(now / this.#grain);
    const taken: string[] = [];
    for (const slot of [...this.#slots.keys()].filter((s) => s <= current).sort((a, b) => a - b)) {
      const subjects = this.#slots.get(slot)!;
      taken.push(...subjects.splice(Math.max(0, subjects.length - (most - taken.length))));
      if (subjects.length > 0) return taken;
      this.#slots.delete(slot);
    }
    this.#next = current + 1;
    return taken;
  }
}
