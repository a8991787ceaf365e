export function suggest(
  word: string,
  names: readonly string[],
  slips = Number.POSITIVE_INFINITY,
): string | null {
  if (word.length > 64) return null;
  const most = ({ length }: string) =>
    Math.min(slips, Math.max(1, Math.floor(length / 3)));
  const near = names
    .filter(
      (candidate) =>
        Math.abs(candidate.length - word.length) <= most(candidate),
    )
    .map((candidate) => ({
      candidate,
      distance: distance(
        word.toLowerCase(),
        candidate.toLowerCase(),
        most(candidate),
      ),
    }))
    .filter(({ candidate, distance }) => distance <= most(candidate))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate ?? null;
}

/** Optimal string alignment; infinity if it is surely more than `most`. */
function distance(a: string, b: string, most: number): number {
  const rows: number[][] = [
    Array.from({ length: b.length + 1 }, (_, column) => column),
  ];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = rows[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped
        ? rows[i - 2]![j - 2]! + 1
        : Number.POSITIVE_INFINITY;
      row.push(Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, change, swap));
    }
    // A swap looks two rows back.
    if (Math.min(...row, ...rows[i - 1]!) > most)
      return Number.POSITIVE_INFINITY;
    rows.push(row);
  }
  return rows[a.length]![b.length]!;
}
