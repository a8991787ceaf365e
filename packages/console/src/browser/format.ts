// Figures, times and names for people, only in the console.

/** A dash for what is not known. */
export const orDash = (
  value: number | null,
  format: (value: number) => string,
) => (value === null ? '–' : format(value));
/** The sum of all values, or of a number of each. */
export const total = <T>(all: readonly T[], of: (one: T) => number = Number) =>
  all.reduce((sum, one) => sum + of(one), 0);

/** Milliseconds with three digits: `0.46 ms`, `12.3 ms`, `1.24 s`. */
export function milliseconds(value: number): string {
  if (value === 0) return '0 ms';
  if (value >= 1_000) return `${(value / 1_000).toPrecision(3)} s`;
  return `${value >= 100 ? Math.round(value) : value.toPrecision(value < 1 ? 2 : 3)} ms`;
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  let remaining = value;
  while (remaining >= 1_024 && unit < units.length - 1) {
    remaining /= 1_024;
    unit++;
  }
  return `${unit === 0 ? remaining : remaining.toPrecision(3)} ${units[unit]}`;
}

const sameDay = (a: Date, b: Date) => a.toDateString() === b.toDateString();

/** A time of the reader's clock; with its date unless it is today's. */
export function clockTime(iso: string, now = new Date()): string {
  const time = new Date(iso);
  const clock = time.toLocaleTimeString('en-GB');
  return sameDay(time, now)
    ? clock
    : `${time.toLocaleDateString('en-CA')} ${clock}`;
}

/** A time of the day of the last days: `Sun 10:20`. */
export const dayTime = (at: number) =>
  new Date(at).toLocaleString('en-GB', {
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
