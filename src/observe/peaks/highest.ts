/** What a row and one reading in it count in the weight of a table: an empty row takes nine times the memory. */
const ROW = 9;
const READING = 1;

/** Readings of one subject, flat: the window that was read, and its highest use, in the order of the windows. */
export type Readings = readonly number[];

/**
 * The highest uses of one window, as readings of many subjects show them. A reading says how much is used at a moment, whoever counted
 * it: so of all readings of a window that one subject opened the highest is its use, however they are split over processes, and
 * whatever is missing. Uses that were dropped, or never taken, to hold fewer were `floor` units at most.
 */
export class HighestUses {
  readonly #rows = new Map<string, number[]>();
  #floor = 0;
  #weight = 0;

  /** No window that is missing here was used more. */
  get floor(): number {
    return this.#floor;
  }

  /** What it holds, in units of some 18 bytes. */
  get weight(): number {
    return this.#weight;
  }

  get rows(): ReadonlyMap<string, Readings> {
    return this.#rows;
  }

  /** Notes that `subject` has used so much of its window `at`, which is told apart by this number. Answers the weight that came. */
  note(subject: string, at: number, used: number): number {
    return used <= this.#floor ? 0 : this.#put(subject, at, used);
  }

  /**
   * Takes in all readings of another one that are above `above`, and what that one does not know. Readings below a floor are true none
   * the less: so much was used at least.
   */
  absorb({ rows, floor }: Pick<HighestUses, 'rows' | 'floor'>, above = 0): void {
    for (const [subject, row] of rows) {
      for (let i = 0; i < row.length; i += 2) if (row[i + 1]! > above) this.#put(subject, row[i]!, row[i + 1]!);
    }
    this.#floor = Math.max(this.#floor, floor);
  }

  /** Keeps the highest uses, so that it weighs `most` at most. */
  shrink(most: number): void {
    while (this.#weight > most) {
      const uses = this.#uses().sort();
      const half = (uses.length + 1) >> 1;
      const use = uses[half - 1]!;
      this.#forget(use, half - uses.indexOf(use));
    }
  }

  #put(subject: string, at: number, used: number): number {
    const row = this.#rows.get(subject);
    if (row === undefined) {
      this.#rows.set(subject, [at, used]);
      this.#weight += ROW + READING;
      return ROW + READING;
    }
    let place = row.length - 2;
    // Nearly always the last one.
    while (place >= 0 && row[place]! > at) place -= 2;
    if (row[place] === at) {
      if (row[place + 1]! < used) row[place + 1] = used;
      return 0;
    }
    row.splice(place + 2, 0, at, used);
    this.#weight += READING;
    return READING;
  }

  #uses(): Float64Array {
    const uses = new Float64Array((this.#weight - ROW * this.#rows.size) / READING);
    let at = 0;
    for (const row of this.#rows.values()) for (let i = 1; i < row.length; i += 2) uses[at++] = row[i]!;
    return uses;
  }

  /** Forgets what is below `use`, and so many of those that are as high: of many that reached their limit some are to be named. */
  #forget(use: number, asHigh: number): void {
    this.#floor = Math.max(this.#floor, use);
    this.#weight = 0;
    let left = asHigh;
    for (const [subject, row] of this.#rows) {
      const kept: number[] = [];
      for (let i = 0; i < row.length; i += 2) {
        const used = row[i + 1]!;
        if (used > use || (used === use && left-- <= 0)) kept.push(row[i]!, used);
      }
      if (kept.length === 0) this.#rows.delete(subject);
      else {
        this.#rows.set(subject, kept);
        this.#weight += ROW + (kept.length / 2) * READING;
      }
    }
  }
}
