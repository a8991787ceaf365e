export { formatDuration, parseDuration } from '../limits/notation.ts';

const bytes = { GiB: 1024 ** 3, MiB: 1024 ** 2, KiB: 1024 } as const;

/** `16KiB`, `1MiB`, `2GiB` or plain bytes. */
export function parseSize(size: string | number): number | null {
  if (typeof size === 'number')
    return Number.isSafeInteger(size) && size >= 0 ? size : null;
  const [, count, unit] =
    /^(0|[1-9][0-9]{0,11})(KiB|MiB|GiB)?$/.exec(size) ?? [];
  if (count === undefined) return null;
  return (
    Number(count) * (unit === undefined ? 1 : bytes[unit as keyof typeof bytes])
  );
}

/** The exact reverse of `parseSize`. */
export function formatSize(size: number): string {
  const [unit, length] = Object.entries(bytes).find(
    ([, length]) => size !== 0 && size % length === 0,
  ) ?? ['', 1];
  return `${size / length}${unit}`;
}
