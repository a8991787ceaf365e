/**
 * Each subject is in one slot per `grain`. A due subject is checked and, if still needed, moved to its next slot, so
 * requests pay nothing and no scan of all subjects is needed.
 */
export class TimerWheel {
  readonly #grain: number;
  readonly #slots = new Map<number, string[]>();
  #next = 0;

  /** `grain`: milliseconds. */
  constructor(grain: number) {
    this.#grain = grain;
  }

  /** Schedules a check of `subject` after `at` (Unix milliseconds). */
  schedule(subject: string, at: number): void {
    const slot = Math.max(Math.floor(at / this.#grain) + 1, this.#next);
    const subjects = this.#slots.get(slot);
    if (subjects) subjects.push(subject);
    else this.#slots.set(slot, [subject]);
  }

  /** Unix milliseconds when a check is due; infinite if none is scheduled. */
  get nextDue(): number {
    let earliest = Number.POSITIVE_INFINITY;
    for (const slot of this.#slots.keys()) if (slot < earliest) earliest = slot;
    return earliest * this.#grain;
  }

  /** A result shorter than `most` means that none remain. */
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
