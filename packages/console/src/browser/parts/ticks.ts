import { dayTime } from '../format.ts';

// Which steps of a chart have their time below them.

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** What the steps of a chart are. Days are those of UTC, by which usage is summed up. */
export type Grain = 'second' | 'minute' | 'hour' | 'day';

/** Milliseconds between ticks. */
const ROUND = [
  ...[5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 5, 10].map((count) => count * DAY),
];

export interface Tick {
  /** The number of the step. */
  readonly step: number;
  /** The time, and where it changes the date below it. */
  readonly text: string;
}

/**
 * Ticks at round times of the reader's clock, and one at the newest step. `starts`: Unix
 * milliseconds; `space`: how many labels fit.
 */
export function ticksOf(
  starts: readonly number[],
  grain: Grain,
  space: number,
): Tick[] {
  const last = starts.length - 1;
  if (last < 0) return [];
  const local = starts.map((start) => localTime(start, grain));
  const span = local[last]! - local[0]!;
  const every = ROUND.find((one) => span / one < space) ?? ROUND.at(-1)!;
  const roundOf = (step: number) => Math.floor(local[step]! / every) * every;
  const isFar = (step: number) => local[last]! - local[step]! >= span / space;
  const found = [...starts.keys()]
    .slice(1, -1)
    .filter((step) => roundOf(step) > roundOf(step - 1) && isFar(step))
    .map((step) => ({ step, at: roundOf(step) }));
  let day = dayOf(local[0]!);
  return [...found, { step: last, at: local[last]! }].map(({ step, at }) => {
    const before = day;
    day = dayOf(at);
    return { step, text: textOf(at, grain, every, day !== before) };
  });
}

/** As if the clock of the reader were that of UTC. */
const localTime = (at: number, grain: Grain): number =>
  grain === 'day' ? at : at - new Date(at).getTimezoneOffset() * MINUTE;

const dayOf = (local: number): number => Math.floor(local / DAY);

function textOf(
  local: number,
  grain: Grain,
  every: number,
  isNewDay: boolean,
): string {
  const [date, clock] = [dateIn(local), clockIn(local)];
  if (grain === 'day') return date;
  const time = every < MINUTE ? clock : clock.slice(0, 5);
  return isNewDay ? `${time}\n${date}` : time;
}

const clockIn = (local: number): string =>
  new Date(local).toISOString().slice(11, 19);

const dateIn = (local: number): string =>
  new Date(local).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  });

/** The time of a step in words: `Sun 10:20`, `10:20:30`, `2030-01-31`. */
export function stepName(start: number, grain: Grain): string {
  const time = new Date(start);
  if (grain === 'day') return time.toISOString().slice(0, 10);
  return grain === 'second' ? time.toLocaleTimeString('en-GB') : dayTime(start);
}
