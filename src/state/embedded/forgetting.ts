/**
 * Which subject may be forgotten when: a timer wheel with one slot per `grain`. A subject stands in one slot only and is
 * looked at when that slot is due; whoever still matters then is put where it is due next. So remembering costs nothing
 * on the request path, and no sweep ever walks all subjects.
 */
export class Forgetting {
  readonly #grain: number;
  readonly #slots = new Map<number, string[]>();
  #next = 0;

  /** `grain`: milliseconds per slot; how late a subject may be forgotten at the most. */
  constructor(grain: number) {
    this.#grain = grain;
  }

  /** Have `subject` looked at once `at` (Unix milliseconds) has passed. */
  remind(subject: string, at: number): void {
    const slot = Math.max(Math.floor(at / this.#grain) + 1, this.#next);
    const subjects = this.#slots.get(slot);
    if (subjects) subjects.push(subject);
    else this.#slots.set(slot, [subject]);
  }

  /** Takes up to `most` subjects that are due at `now`. Fewer than `most` means that none is left. */
  due(now: number, most: number): string[] {
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
