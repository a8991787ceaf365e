const SECONDS = 10;

/** Milliseconds on a monotonic clock. */
export function createLastSeconds() {
  const all = new Float64Array(SECONDS);
  const some = new Float64Array(SECONDS);
  const seconds = new Float64Array(SECONDS).fill(Number.NEGATIVE_INFINITY);

  function placeOf(now: number): number {
    const second = Math.floor(now / 1_000);
    const place = second % SECONDS;
    if (seconds[place] !== second) {
      seconds[place] = second;
      all[place] = 0;
      some[place] = 0;
    }
    return place;
  }

  return {
    add(now: number): void {
      all[placeOf(now)]! += 1;
    },
    mark(now: number): void {
      some[placeOf(now)]! += 1;
    },
    /** `some` are of the second kind, `now` those of them in the current second. */
    counts(now: number) {
      const place = placeOf(now);
      const sum = { all: 0, some: 0, now: some[place]! };
      for (let i = 0; i < SECONDS; i++) {
        if (seconds[i]! <= seconds[place]! - SECONDS) continue;
        sum.all += all[i]!;
        sum.some += some[i]!;
      }
      return sum;
    },
    clear(): void {
      seconds.fill(Number.NEGATIVE_INFINITY);
    },
  };
}
