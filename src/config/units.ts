const milliseconds = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const bytes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024 } as const;

/**
 * Reads `100ms`, `5s`, `1m`, `2h`, `1d` as milliseconds; `null` if it is no duration. Whole numbers of up to 12 digits.
 */
export function parseDuration(text: string): number | null {
  const [, count, unit] = /^(0|[1-9][0-9]{0,11})(ms|s|m|h|d)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * milliseconds[unit as keyof typeof milliseconds];
}

/** Writes milliseconds in the largest unit that needs no fraction; the exact reverse of `parseDuration`. */
export function formatDuration(span: number): string {
  const units = Object.entries(milliseconds).reverse();
  const [unit, length] = units.find(([, length]) => span !== 0 && span % length === 0) ?? ['ms', 1];
  return `${span / length}${unit}`;
}

/** Reads `16KiB`, `1MiB`, `2GiB` or plain bytes (a whole number, or its digits) as bytes; `null` if it is no size. */
export function parseSize(size: string | number): number | null {
  if (typeof size === 'number') return Number.isSafeInteger(size) && size >= 0 ? size : null;
  const [, count, unit] = /^(0|[1-9][0-9]{0,11})(KiB|MiB|GiB)?$/.exec(size) ?? [];
  if (count === undefined) return null;
  return Number(count) * (unit === undefined ? 1 : bytes[unit as keyof typeof bytes]);
}

/** Writes bytes in the largest unit that needs no fraction; the exact reverse of `parseSize`. */
export function formatSize(size: number): string {
  const [unit, length] = Object.entries(bytes).find(([, length]) => size !== 0 && size % length === 0) ?? ['', 1];
  return `${size / length}${unit}`;
}
