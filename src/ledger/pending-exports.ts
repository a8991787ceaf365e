import { MINUTE, SECOND } from '../common/time.ts';
import { type Block, joinSources, type Sources } from './block.ts';
import { BlockSum } from './block-sum.ts';
import {
  blockIn,
  blocksNamed,
  byMinute,
  newBlocks,
  pendingName,
  type Slice,
} from './names.ts';
import type { Commit, LedgerStore } from './store.ts';

/** Milliseconds after which no further block is sent: with its attempt, less than a turn. */
const SENDING = 10 * SECOND;

/**
 * Resolves with whether the receiver has accepted all requests of the block. `name`: the same for
 * each attempt of any gateway, and of no other block.
 */
export type SendUsage = (name: string, block: Block) => Promise<boolean>;

interface PendingExportsOptions {
  readonly store: Pick<LedgerStore, 'sizes' | 'read'>;
  readonly sendUsage: SendUsage;
  readonly damaged: (damage: string) => void;
}

/**
 * Blocks that wait for their export. They are stored together with the block that takes the same
 * slices, and never change, so each slice is in exactly one of them.
 */
export function createPendingExports({
  damaged,
  store,
  sendUsage,
}: PendingExportsOptions) {
  async function sendOne(name: string) {
    for (const block of await read([name]))
      if (!(await sendUsage(name, block))) return false;
    return true;
  }

  /** Names by minute. */
  async function pendingNames(): Promise<
    ReadonlyMap<number, readonly string[]>
  > {
    const names = [...(await store.sizes()).keys()];
    const waiting = names.filter((name) => blockIn(name)?.kind === 'x');
    return Map.groupBy(waiting, (name) => blockIn(name)!.start);
  }

  async function sourcesOf(names: readonly string[]): Promise<Sources> {
    return joinSources((await read(names)).map(({ sources }) => sources));
  }

  function read(names: readonly string[]): Promise<Block[]> {
    return blocksNamed(names, store, damaged);
  }

  return {
    /** What `slices` add to the block with this name, by minute. */
    async blocksOf(
      slices: readonly Slice[],
      name: string,
    ): Promise<Map<string, Buffer>> {
      const known = await sourcesOf([name]);
      const pending = await pendingNames();
      const blocks = new Map<string, Buffer>();
      for (const [minute, ofMinute] of byMinute(slices)) {
        // A crash may have come before the block that takes these slices.
        const before = await sourcesOf(pending.get(minute) ?? []);
        const sum = new BlockSum({ start: minute, span: MINUTE }, ['usage']);
        for (const block of newBlocks(
          ofMinute,
          joinSources([known, before]),
          damaged,
        ))
          await sum.add(block);
        if (!sum.isEmpty)
          blocks.set(pendingName(minute, sum.sources), await sum.pack());
      }
      return blocks;
    },
    /**
     * Sends the oldest first, until the receiver refuses one or the time is up. Resolves with the
     * begin of what still waits, Unix milliseconds; `null`: nothing waits.
     */
    async send(commit: Commit): Promise<number | null> {
      const end = performance.now() + SENDING;
      const pending = [...(await pendingNames())].sort(
        ([one], [other]) => one - other,
      );
      for (const [minute, names] of pending) {
        for (const name of names) {
          if (performance.now() >= end || !(await sendOne(name))) return minute;
          await commit(new Map([[name, null]]), []);
        }
      }
      return null;
    },
  };
}

export type PendingExports = ReturnType<typeof createPendingExports>;
