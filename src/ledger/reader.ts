import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type Block, joinSources } from './block.ts';
import {
  blockIn,
  blockName,
  blocksNamed,
  blocksUnder,
  type Kind,
  newBlocks,
  type Slice,
  slicesIn,
  startOf,
} from './names.ts';
import type { LedgerStore } from './store.ts';

/** Blocks read at once. */
const AT_ONCE = 16;

/** `minute`: only the traffic is known for longer than two hours. */
export type Grain = 'minute' | 'hour' | 'day';

export interface Period {
  /** Unix milliseconds; multiples of the grain, or of an hour if a day is only in part inside. */
  readonly from: number;
  readonly to: number;
}

type Index = Pick<LedgerStore, 'slices' | 'sizes' | 'read'>;

/** The blocks of a period, from the largest to what was stored a second ago. */
export function createLedgerReader(
  store: Index,
  damaged: (damage: string) => void,
) {
  async function* inHours(
    hours: readonly number[],
    grain: Grain,
    period: Period,
    sizes: ReadonlyMap<string, number>,
    slices: ReadonlyMap<number, readonly Slice[]>,
  ): AsyncGenerator<Block> {
    const kind: Kind = grain === 'minute' ? 't' : 'h';
    const known = hours.filter((hour) => sizes.has(blockName(kind, hour)));
    const found = await store.read(known.map((hour) => blockName(kind, hour)));
    for (const hour of hours) {
      const bytes = found[known.indexOf(hour)] ?? null;
      const ofHour = slices.get(hour) ?? [];
      if (bytes === null) yield* inMinutes(hour, period, sizes, ofHour);
      else {
        const blocks = blocksUnder(blockName(kind, hour), bytes, damaged);
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
    period: Period,
    sizes: ReadonlyMap<string, number>,
    slices: readonly Slice[],
  ): AsyncGenerator<Block> {
    const minutes = Array.from(
      { length: HOUR / MINUTE },
      (_, i) => hour + i * MINUTE,
    );
    const names = minutes
      .filter(
        (minute) => isIn(minute, period) && sizes.has(blockName('m', minute)),
      )
      .map((minute) => blockName('m', minute));
    const blocks = await read(names);
    yield* blocks;
    const known = new Map(blocks.map(({ start, sources }) => [start, sources]));
    for (const [minute, ofMinute] of Map.groupBy(
      slices,
      ({ minute }) => minute,
    ))
      yield* newBlocks(ofMinute, known.get(minute) ?? {}, damaged);
  }

  function read(names: readonly string[]): Promise<Block[]> {
    return blocksNamed(names, store, damaged);
  }

  async function storedSlices(): Promise<Slice[]> {
    return slicesIn(await store.slices());
  }

  return {
    /** When the oldest block begins; `null`: no block. Rejects if the store is unreachable. */
    async since(): Promise<number | null> {
      // In this order nothing is missing: slices become blocks.
      const slices = await storedSlices();
      const sizes = await store.sizes();
      const blocks = [...sizes.keys()].flatMap(
        (name) => blockIn(name)?.start ?? [],
      );
      const starts = [...blocks, ...slices.map(({ minute }) => minute)];
      return starts.length === 0 ? null : Math.min(...starts);
    },
    /**
     * Each request of the period is in one block, oldest hour first. Rejects if the store is
     * unreachable.
     */
    async *blocks({ from, to }: Period, grain: Grain): AsyncGenerator<Block> {
      const slices = (await storedSlices()).filter(({ minute }) =>
        isIn(minute, { from, to }),
      );
      const byHour = Map.groupBy(slices, ({ minute }) => startOf(minute, HOUR));
      const sizes = await store.sizes();
      for (let at = startOf(from, HOUR); at < to; ) {
        const isWholeDay = at % DAY === 0 && at >= from && at + DAY <= to;
        if (grain === 'day' && isWholeDay && isComplete(at, sizes, byHour)) {
          yield* await read([blockName('d', at)]);
          at += DAY;
          continue;
        }
        const hours = Array.from({ length: AT_ONCE }, (_, i) => at + i * HOUR);
        const before =
          grain === 'day' ? startOf(at, DAY) + DAY : Number.POSITIVE_INFINITY;
        const next = hours.filter((hour) => hour < Math.min(to, before));
        yield* inHours(next, grain, { from, to }, sizes, byHour);
        at += next.length * HOUR;
      }
    },
    /** As `blocks`, in minutes with their keys: those of this hour and the hour before. */
    async *minutes(period: Period): AsyncGenerator<Block> {
      const slices = (await storedSlices()).filter(({ minute }) =>
        isIn(minute, period),
      );
      const byHour = Map.groupBy(slices, ({ minute }) => startOf(minute, HOUR));
      const sizes = await store.sizes();
      for (
        let hour = startOf(period.from, HOUR);
        hour < period.to;
        hour += HOUR
      )
        yield* inMinutes(hour, period, sizes, byHour.get(hour) ?? []);
    },
  };
}

export type LedgerReader = ReturnType<typeof createLedgerReader>;

/** Slices of an outage are not in the block of a day yet, and in no hour if hours were removed. */
function isComplete(
  day: number,
  sizes: ReadonlyMap<string, number>,
  slices: ReadonlyMap<number, unknown>,
): boolean {
  if (!sizes.has(blockName('d', day))) return false;
  const hours = Array.from({ length: DAY / HOUR }, (_, i) => day + i * HOUR);
  const isLate = hours.some((hour) => slices.has(hour));
  return !isLate || !hours.some((hour) => sizes.has(blockName('h', hour)));
}

const isIn = (start: number, { from, to }: Period): boolean =>
  start >= from && start < to;
