// Heights of bars and the end of their axis.

/** Each value with those below it; `null` where nothing is known of any. */
export function stacked(
  values: readonly (readonly (number | null)[])[],
): (number | null)[][] {
  const sums: (number | null)[][] = [];
  for (const [i, one] of values.entries()) {
    const below = sums[i - 1];
    sums.push(
      one.map((value, at) => {
        const sum = below?.[at] ?? null;
        return value === null ? sum : value + (sum ?? 0);
      }),
    );
  }
  return sums;
}

/** The next of 1, 2, 4, 6, 8, 10, 20, …: people read such ends of an axis, and half of them. */
export function roundUp(value: number): number {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 6, 8, 10]
    .map((step) => step * power)
    .find((step) => step >= value)!;
}
