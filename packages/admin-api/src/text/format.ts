// Figures and times for people.

let format: Intl.NumberFormat | undefined;

export function number(value: number): string {
  // Made on first use: Intl takes milliseconds to load.
  format ??= new Intl.NumberFormat('en');
  return format.format(value);
}
export const percent = (share: number) =>
  `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;
export const plural = (count: number, one: string, many = `${one}s`) =>
  `${number(count)} ${count === 1 ? one : many}`;

/** A duration in its two largest units: `1d 4h`, `12m 5s`, `40s`. */
export function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const parts = [
    ['d', Math.floor(seconds / 86_400)],
    ['h', Math.floor(seconds / 3_600) % 24],
    ['m', Math.floor(seconds / 60) % 60],
    ['s', seconds % 60],
  ] as const;
  const first = parts.findIndex(([, count]) => count > 0);
  if (first === -1) return '0s';
  return parts
    .slice(first, first + 2)
    .filter(([, count]) => count > 0)
    .map(([unit, count]) => `${count}${unit}`)
    .join(' ');
}

/** `3m ago`, `in 12s`. */
export function fromNow(iso: string, now = Date.now()): string {
  const ahead = Date.parse(iso) - now;
  return ahead > 0 ? `in ${span(ahead)}` : `${span(-ahead)} ago`;
}
