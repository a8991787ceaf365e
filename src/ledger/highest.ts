/** The weight of a row and of its first reading. */
const ROW = 9;
const READING = 1;

export interface WindowUses {
  readonly floor: number;
  /** Whether requests were decided locally: their use is unknown, also above `floor`. */
  readonly local: boolean;
  readonly rows: readonly (readonly [
    subject: string,
    readings: readonly number[],
  ])[];
}

/**
 * The highest known use per subject and window. The maximum of all readings is the use, however
 * they are split over processes. Missing uses were at most `floor`.
 */
export class HighestUses {
  readonly #rows = new Map<string, number[]>();
  floor = 0;
  local = false;
  /** In units of some 18 bytes. */
  weight = 0;

  /** Flat pairs: window, highest use. */
  get rows(): ReadonlyMap<string, readonly number[]> {
    return this.#rows;
  }

  get all(): WindowUses {
    return { floor: this.floor, local: this.local, rows: [...this.#rows] };
  }

  note(subject: string, at: number, used: number): void {
    if (used > this.floor) this.#put(subject, at, used);
  }

  /** A reading below a floor is still a valid lower bound. */
  absorb({ rows, floor, local }: WindowUses): void {
    for (const [subject, row] of rows)
      for (let i = 0; i < row.length; i += 2)
        this.#put(subject, row[i]!, row[i + 1]!);
    this.floor = Math.max(this.floor, floor);
    if (local) this.local = true;
  }

  shrink(most: number): void {
    while (this.weight > most) {
      const uses = this.#uses().sort();
      const half = (uses.length + 1) >> 1;
      const use = uses[half - 1]!;
      this.#forget(use, half - uses.indexOf(use));
    }
  }

  #put(subject: string, at: number, used: number): void {
    const row = this.#rows.get(subject);
    if (row === undefined) {
      this.#rows.set(subject, [at, used]);
      this.weight += ROW + READING;
      return;
    }
    let place = row.length - 2;
    // Nearly always the last one.
    while (place >= 0 && row[place]! > at) place -= 2;
    if (row[place] === at) {
      if (row[place + 1]! < used) row[place + 1] = used;
      return;
    }
    row.splice(place + 2, 0, at, used);
    this.weight += READING;
  }

  #uses(): Float64Array {
    const uses = new Float64Array(
      (this.weight - ROW * this.#rows.size) / READING,
    );
    let at = 0;
    for (const row of this.#rows.values())
      for (let i = 1; i < row.length; i += 2) uses[at++] = row[i]!;
    return uses;
  }

  /** Drops uses below `use`, and `asHigh` of those that equal it. */
  #forget(use: number, asHigh: number): void {
    this.floor = Math.max(this.floor, use);
    this.weight = 0;
    let remaining = asHigh;
    for (const [subject, row] of this.#rows) {
      const kept: number[] = [];
      for (let i = 0; i < row.length; i += 2) {
        const used = row[i + 1]!;
        if (used > use || (used === use && remaining-- <= 0))
          kept.push(row[i]!, used);
      }
      if (kept.length === 0) this.#rows.delete(subject);
      else {
        this.#rows.set(subject, kept);
        this.weight += ROW + (kept.length / 2) * READING;
      }
    }
  }
}
