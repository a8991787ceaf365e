const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/**
 * Reads `100ms`, `5s`, `1m`, `2h`, `1d` as milliseconds; `null` if it is not a valid duration. Whole numbers of up to
 * 12 digits.
 */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(0|[1-9][0-9]{0,11})(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * milliseconds[unit as keyof typeof milliseconds];
}

/** Writes milliseconds in the largest unit without a fraction; the inverse of `parseDuration`. */
export function formatDuration(span: number): string {
  const units = Object.entries(milliseconds).reverse();
  const [unit, length] = units.find(([, length]) => span !== 0 && span % length === 0) ?? ['ms', 1];
  return `${span / length}${unit}`;
}
