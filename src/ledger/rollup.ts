import { DAY, HOUR, MINUTE, SECOND } from '../common/time.ts';
import {
  type Block,
  joinSources,
  type Section,
  type Sources,
} from './block.ts';
import { BlockSum } from './block-sum.ts';
import {
  blockIn,
  blockName,
  blocksNamed,
  byHour,
  byMinute,
  newBlocks,
  type Slice,
  SPANS,
  slicesIn,
  startOf,
  startsIn,
} from './names.ts';
import type { PendingExports } from './pending-exports.ts';
import { expired, oldIn, type Retention } from './retention.ts';
import { type Commit, type LedgerStore, TurnLost } from './store.ts';

/** Milliseconds after a span in which its last slices arrive. */
const LATE = 5 * SECOND;
/** Milliseconds of minutes with their keys. */
export const MINUTES = 2 * HOUR;

const HOUR_SECTIONS: readonly Section[] = ['traffic', 'usage', 'uses'];
const DAY_SECTIONS: readonly Section[] = ['traffic', 'usage'];

export interface RollupReport {
  readonly bytes: number;
  /** Blocks that were removed because of `maxBytes`. */
  readonly dropped: number;
  /** Begins of hours and days that were removed because of their age, Unix milliseconds. */
  readonly old: Readonly<Record<'hours' | 'days', readonly number[]>>;
  /** Removed blocks that were not exported. */
  readonly unexported: number;
  /** When the usage begins that is not exported yet; `null`: all is. Unix milliseconds. */
  readonly pendingSince: number | null;
}

/**
 * Makes blocks of slices: of each minute that has ended, then of each hour and day. Each commit is
 * complete by itself, and what a block contains counts once, however often it is added.
 * `exports` `null`: usage is not exported.
 */
export function createRollup(
  store: LedgerStore,
  retention: () => Retention,
  damaged: (damage: string) => void,
  exports: PendingExports | null = null,
) {
  async function merge(now: number, stored: number, commit: Commit) {
    const sizes = await store.sizes();
    const slices = slicesIn(await store.slices());
    for (const [hour, ofHour] of byHour(slices)) {
      if (sizes.has(blockName('h', hour)))
        await mergeLate(hour, ofHour, sizes, commit);
      else await mergeMinutes(now, ofHour, commit);
    }
    await mergeHours(now, stored, commit);
    await mergeDays(now, commit);
  }

  async function mergeMinutes(
    now: number,
    slices: readonly Slice[],
    commit: Commit,
  ) {
    for (const [minute, ofMinute] of byMinute(slices)) {
      if (!isOver(minute, MINUTE + LATE, now)) continue;
      const blocks = await mergedWith('m', minute, ofMinute);
      await commit(
        blocks,
        ofMinute.map(({ name }) => name),
      );
    }
  }

  /** The block with what it lacks, after what it adds to exports. */
  async function mergedWith(
    kind: 'm' | 'h',
    start: number,
    slices: readonly Slice[],
  ): Promise<Map<string, Buffer>> {
    const name = blockName(kind, start);
    const blocks =
      (await exports?.blocksOf(slices, name)) ?? new Map<string, Buffer>();
    return blocks.set(name, await packed(kind, start, slices));
  }

  /** The block with what it lacks. */
  async function packed(
    kind: 'm' | 'h',
    start: number,
    slices: readonly Slice[],
  ): Promise<Buffer> {
    const sum = new BlockSum({ start, span: SPANS[kind] }, HOUR_SECTIONS);
    for (const block of await blocksOf([blockName(kind, start)]))
      await sum.add(block);
    await addNew(sum, slices, sum.sources);
    return await sum.pack();
  }

  /**
   * Slices of an outage: the hour has its block already. All at once, because that block knows only
   * the highest number of each process.
   */
  async function mergeLate(
    hour: number,
    slices: readonly Slice[],
    sizes: ReadonlyMap<string, number>,
    commit: Commit,
  ) {
    const blocks = await mergedWith('h', hour, slices);
    const traffic = blockName('t', hour);
    if (sizes.has(traffic))
      blocks.set(traffic, await lateTraffic(traffic, slices));
    for (const [minute, ofMinute] of byMinute(slices)) {
      const name = blockName('m', minute);
      if (sizes.has(name))
        blocks.set(name, await packed('m', minute, ofMinute));
    }
    await commit(
      blocks,
      slices.map(({ name }) => name),
    );
    await correctDay(hour, sizes, commit);
  }

  async function lateTraffic(
    name: string,
    slices: readonly Slice[],
  ): Promise<Buffer> {
    const known = await blocksOf([name]);
    const sources = joinSources(known.map(({ sources }) => sources));
    const minutes = byMinute(slices);
    const starts = new Set([
      ...known.map(({ start }) => start),
      ...minutes.keys(),
    ]);
    const sums: BlockSum[] = [];
    for (const start of starts) {
      const sum = new BlockSum({ start, span: MINUTE }, ['traffic']);
      for (const one of known) if (one.start === start) await sum.add(one);
      await addNew(sum, minutes.get(start) ?? [], sources);
      sums.push(sum);
    }
    return await packAll(sums);
  }

  async function addNew(
    sum: BlockSum,
    slices: readonly Slice[],
    known: Sources,
  ) {
    for (const block of newBlocks(slices, known, damaged)) await sum.add(block);
  }

  /** `stored`: the time of the store. */
  async function mergeHours(now: number, stored: number, commit: Commit) {
    const sizes = await store.sizes();
    const minutes = startsOf(sizes.keys(), 'm');
    const isOld = oldIn(
      [...minutes, ...startsOf(sizes.keys(), 'h')],
      HOUR,
      stored,
    );
    for (const [hour, ofHour] of Map.groupBy(minutes, (start) =>
      startOf(start, HOUR),
    )) {
      if (!isOver(hour, HOUR + MINUTE + 2 * LATE, now)) continue;
      const names = ofHour.map((start) => blockName('m', start));
      if (!sizes.has(blockName('h', hour))) {
        await mergeHour(hour, names, commit);
        await correctDay(hour, sizes, commit);
      }
      if (isOld(hour + HOUR, MINUTES))
        await commit(new Map(names.map(removed)), []);
    }
  }

  async function mergeHour(
    hour: number,
    names: readonly string[],
    commit: Commit,
  ) {
    const sum = new BlockSum({ start: hour, span: HOUR }, HOUR_SECTIONS);
    const traffic: BlockSum[] = [];
    for (const block of await blocksOf(names)) {
      const { start, span } = block;
      const ofMinute = new BlockSum({ start, span }, ['traffic']);
      await sum.add(block);
      await ofMinute.add(block);
      traffic.push(ofMinute);
    }
    const blocks = new Map([
      [blockName('h', hour), await sum.pack()],
      [blockName('t', hour), await packAll(traffic)],
    ]);
    await commit(blocks, []);
  }

  async function mergeDays(now: number, commit: Commit) {
    const sizes = await store.sizes();
    const days = new Set(
      startsOf(sizes.keys(), 'h').map((start) => startOf(start, DAY)),
    );
    for (const day of days) {
      const hasEnded = isOver(day, DAY + 2 * MINUTE + 2 * LATE, now);
      if (hasEnded && !sizes.has(blockName('d', day)))
        await mergeDay(day, hoursOf(day), commit);
    }
  }

  /** Of a day that has its block already. Its hours are removed together, so they are complete. */
  async function correctDay(
    hour: number,
    sizes: ReadonlyMap<string, number>,
    commit: Commit,
  ) {
    const day = startOf(hour, DAY);
    const name = blockName('d', day);
    if (!sizes.has(name)) return;
    const hours = hoursOf(day);
    const hasHours = hours.some((one) => sizes.has(one));
    const names = hasHours ? hours : [name, blockName('h', hour)];
    await mergeDay(day, names, commit);
  }

  async function mergeDay(
    day: number,
    names: readonly string[],
    commit: Commit,
  ) {
    const sum = new BlockSum({ start: day, span: DAY }, DAY_SECTIONS);
    for (const name of names)
      for (const block of await blocksOf([name])) await sum.add(block);
    await commit(new Map([[blockName('d', day), await sum.pack()]]), []);
  }

  async function bound(
    now: number,
    commit: Commit,
  ): Promise<Omit<RollupReport, 'pendingSince'>> {
    const { bytes, old, dropped } = expired(
      await store.sizes(),
      retention(),
      now,
    );
    const gone = [...old, ...dropped];
    if (gone.length > 0) await commit(new Map(gone.map(removed)), []);
    const unexported = gone.filter(
      (name) => blockIn(name)?.kind === 'x',
    ).length;
    return {
      bytes,
      dropped: dropped.length,
      old: { hours: startsOf(old, 'h'), days: startsOf(old, 'd') },
      unexported,
    };
  }

  function blocksOf(names: readonly string[]): Promise<Block[]> {
    return blocksNamed(names, store, damaged);
  }

  return {
    /** `null`: another gateway has the turn. Rejects if the store is unreachable. */
    async run(now: number): Promise<RollupReport | null> {
      let report: RollupReport | null = null;
      const work = async (commit: Commit) => {
        const stored = await store.now(now);
        await merge(now, stored, commit);
        // A slice that was exported is in its block by then, and nothing is removed untried.
        const pendingSince = (await exports?.send(commit)) ?? null;
        report = { ...(await bound(stored, commit)), pendingSince };
      };
      try {
        await store.inTurn(work);
      } catch (error) {
        if (!(error instanceof TurnLost)) throw error;
      }
      return report;
    },
  };
}

export type Rollup = ReturnType<typeof createRollup>;

const removed = (name: string) => [name, null] as const;

/** Whether a span has ended, or is from a clock that was ahead: it lies more than a day ahead. */
const isOver = (start: number, length: number, now: number): boolean =>
  start + length <= now || start > now + DAY;

function startsOf(names: Iterable<string>, wanted: string): number[] {
  return [...names].flatMap((name) => {
    const block = blockIn(name);
    return block?.kind === wanted ? [block.start] : [];
  });
}

async function packAll(sums: readonly BlockSum[]): Promise<Buffer> {
  const all = [];
  for (const sum of sums) all.push(await sum.pack());
  return Buffer.concat(all);
}

const hoursOf = (day: number): string[] =>
  startsIn(day, DAY, HOUR).map((hour) => blockName('h', hour));
