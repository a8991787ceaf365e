import { HOUR, MINUTE, SECOND } from '../../common/time.ts';
import { SpaceSaving } from './space-saving.ts';
import { mergeSummaries, type Summary } from './summary.ts';

/** Milliseconds. A window is kept in slices of `span`, which expire whole. */
const WINDOWS = {
  minute: { length: MINUTE, span: 10 * SECOND },
  hour: { length: HOUR, span: 10 * MINUTE },
  day: { length: 24 * HOUR, span: HOUR },
} as const;

export type TopWindow = keyof typeof WINDOWS;
export const TOP_WINDOWS = Object.keys(WINDOWS) as readonly TopWindow[];

export const SHORTEST = WINDOWS.minute.span;

interface Slice<T> {
  readonly start: number;
  readonly summary: Summary<T>;
}

export function beginOf(window: TopWindow, now: number): number {
  const { length, span } = WINDOWS[window];
  return Math.floor((now - length) / span) * span;
}

/** Counts in slices of ten seconds and merges ended ones into each window, so memory is bounded to 39 summaries. */
export class Slices<T> {
  readonly #size: number;
  readonly #now: SpaceSaving<T>;
  readonly #kept: Readonly<Record<TopWindow, Slice<T>[]>> = { minute: [], hour: [], day: [] };

  /** `size`: counters per summary. */
  constructor(size: number) {
    this.#size = size;
    this.#now = new SpaceSaving(size);
  }

  add(key: string, now: number) {
    return this.#now.add(key, now);
  }

  end(start: number): void {
    const summary = this.#now.summary();
    if (summary.total === 0) return;
    this.#now.empty();
    for (const window of TOP_WINDOWS) this.#keep(window, start, summary);
  }

  /** Includes the older part of the window's first slice. */
  summary(window: TopWindow, now: number): Summary<T> {
    const begin = beginOf(window, now);
    const inside = this.#kept[window].filter(({ start }) => start >= begin && start <= now);
    return mergeSummaries([...inside.map(({ summary }) => summary), this.#now.summary()], this.#size);
  }

  #keep(window: TopWindow, ended: number, summary: Summary<T>): void {
    const { length, span } = WINDOWS[window];
    const start = Math.floor(ended / span) * span;
    const slices = this.#kept[window];
    const last = slices.at(-1);
    if (last?.start === start) {
      slices[slices.length - 1] = { start, summary: mergeSummaries([last.summary, summary], this.#size) };
    } else {
      slices.push({ start, summary });
      if (slices.length > length / span + 1) slices.shift();
    }
  }
}
