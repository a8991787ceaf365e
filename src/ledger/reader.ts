import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type Block, joinSources } from './block.ts';
import {
  blockIn,
  blockName,
  blocksNamed,
  blocksUnder,
  byHour,
  byMinute,
  newBlocks,
  type Slice,
  slicesIn,
  startOf,
  startsIn,
} from './names.ts';
import type { LedgerIndex } from './store.ts';

/** Blocks read at once. */
const AT_ONCE = 16;

/**
 * The blocks of an hour by grain; `null`: its minutes. `traffic`: minutes, of which only the traffic
 * is known for longer than two hours. `minute`: minutes with their keys, those of this hour and the
 * hour before.
 */
const HOUR_BLOCKS = {
  minute: null,
  traffic: 't',
  hour: 'h',
  day: 'h',
} as const;
type Grain = keyof typeof HOUR_BLOCKS;

export interface Period {
  /** Unix milliseconds; multiples of the grain, or of an hour if a day is only in part inside. */
  readonly from: number;
  readonly to: number;
}

/** The blocks of a period, from the largest to what was stored a second ago. */
export function createLedgerReader(
  store: LedgerIndex,
  damaged: (damage: string) => void,
) {
  /** First the slices: they become blocks, so in this order nothing is missing. */
  async function stored(period: Period) {
    const slices = slicesIn(await store.slices());
    const inPeriod = slices.filter(({ minute }) => isIn(minute, period));
    const sizes = await store.sizes();
    return { period, slices: byHour(inPeriod), sizes };
  }
  type Stored = Awaited<ReturnType<typeof stored>>;

  async function* inHours(
    hours: readonly number[],
    grain: Grain,
    { period, slices, sizes }: Stored,
  ): AsyncGenerator<Block> {
    const kind = HOUR_BLOCKS[grain];
    const nameOf = (hour: number) => kind && blockName(kind, hour);
    const names = hours.map(nameOf).filter((name) => name && sizes.has(name));
    const found = await store.read(names as string[]);
    for (const hour of hours) {
      const name = nameOf(hour);
      const bytes = found[names.indexOf(name)] ?? null;
      const ofHour = slices.get(hour) ?? [];
      if (bytes === null) yield* inMinutes(hour, ofHour, period, sizes);
      else {
        const blocks = blocksUnder(name!, bytes, damaged);
        yield* blocks.filter(
          ({ start, span }) => span > MINUTE || isIn(start, period),
        );
        const known = joinSources(blocks.map(({ sources }) => sources));
        yield* newBlocks(ofHour, known, damaged);
      }
    }
  }

  async function* inMinutes(
    hour: number,
    slices: readonly Slice[],
    period: Period,
    sizes: Stored['sizes'],
  ): AsyncGenerator<Block> {
    const names = startsIn(hour, HOUR, MINUTE)
      .filter((minute) => isIn(minute, period))
      .map((minute) => blockName('m', minute));
    const blocks = await read(names.filter((name) => sizes.has(name)));
    yield* blocks;
    const known = new Map(blocks.map(({ start, sources }) => [start, sources]));
    for (const [minute, ofMinute] of byMinute(slices))
      yield* newBlocks(ofMinute, known.get(minute) ?? {}, damaged);
  }

  function read(names: readonly string[]): Promise<Block[]> {
    return blocksNamed(names, store, damaged);
  }

  return {
    /** When the oldest block begins; `null`: no block. Rejects if the store is unreachable. */
    async since(): Promise<number | null> {
      const { slices, sizes } = await stored({ from: 0, to: Infinity });
      const names = [...sizes.keys()];
      const starts = names.flatMap((name) => blockIn(name)?.start ?? []);
      for (const { minute } of [...slices.values()].flat()) starts.push(minute);
      return starts.length === 0 ? null : Math.min(...starts);
    },
    /** Begins of days of the period whose hours were removed. Rejects as `since`. */
    async daysWithoutHours({ from, to }: Period): Promise<number[]> {
      const sizes = await store.sizes();
      const blocks = [...sizes.keys()].map(blockIn);
      const days = blocks.flatMap((block) =>
        block?.kind === 'd' ? block.start : [],
      );
      const hasHours = (day: number) =>
        startsIn(day, DAY, HOUR).some((hour) =>
          sizes.has(blockName('h', hour)),
        );
      return days
        .filter((day) => day + DAY > from && day < to && !hasHours(day))
        .sort((one, other) => one - other);
    },
    /**
     * Each request of the period is in one block, oldest hour first. Rejects if the store is
     * unreachable.
     */
    async *blocks(period: Period, grain: Grain): AsyncGenerator<Block> {
      const { from, to } = period;
      const all = await stored(period);
      const hours = hoursIn(period, all);
      while (hours.length > 0) {
        const day = startOf(hours[0]!, DAY);
        const isWhole = day >= from && day + DAY <= to;
        if (grain === 'day' && isWhole && isComplete(day, all)) {
          yield* await read([blockName('d', day)]);
          hours.splice(0, countBefore(hours, day + DAY));
          continue;
        }
        const ofDay = countBefore(hours, grain === 'day' ? day + DAY : to);
        yield* inHours(hours.splice(0, Math.min(AT_ONCE, ofDay)), grain, all);
      }
    },
  };
}

export type LedgerReader = ReturnType<typeof createLedgerReader>;

/** The hours of a period of which something is stored, oldest first. */
function hoursIn(
  { from, to }: Period,
  {
    sizes,
    slices,
  }: Readonly<Record<'sizes', ReadonlyMap<string, number>>> & {
    readonly slices: ReadonlyMap<number, unknown>;
  },
): number[] {
  const starts = [...sizes.keys()].flatMap(
    (name) => blockIn(name)?.start ?? [],
  );
  const hours = new Set([...starts, ...slices.keys()].map(hourOf));
  return [...hours]
    .filter((hour) => hour >= hourOf(from) && hour < to)
    .sort((one, other) => one - other);
}

const hourOf = (at: number): number => startOf(at, HOUR);

/** `times`: oldest first. */
function countBefore(times: readonly number[], end: number): number {
  const first = times.findIndex((time) => time >= end);
  return first < 0 ? times.length : first;
}

/** Slices of an outage are not in the block of a day yet, and in no hour if hours were removed. */
function isComplete(
  day: number,
  {
    sizes,
    slices,
  }: Readonly<Record<'sizes' | 'slices', ReadonlyMap<unknown, unknown>>>,
): boolean {
  if (!sizes.has(blockName('d', day))) return false;
  const hours = startsIn(day, DAY, HOUR);
  const isLate = hours.some((hour) => slices.has(hour));
  return !isLate || !hours.some((hour) => sizes.has(blockName('h', hour)));
}

const isIn = (start: number, { from, to }: Period): boolean =>
  start >= from && start < to;
