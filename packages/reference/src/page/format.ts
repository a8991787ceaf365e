const SPANS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
  ['millisecond', 1],
] as const;

/** In the largest exact unit: 300000 is "5 minutes". A day stays in hours: "24 hours". */
export function duration(milliseconds: number): string {
  const [unit, length] = SPANS.find(([, length]) => milliseconds % length === 0)!;
  if (milliseconds === 86_400_000) return '24 hours';
  return counted(milliseconds / length, unit);
}

/** "1 request", "60 requests". */
export function counted(count: number, noun: string): string {
  return `${number(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** "100,000". */
export function number(value: number): string {
  return value.toLocaleString('en');
}

export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "a, b and c". */
export function list(items: readonly string[]): string {
  return items.length < 2 ? items.join('') : `${items.slice(0, -1).join(', ')} and ${items.at(-1)}`;
}
