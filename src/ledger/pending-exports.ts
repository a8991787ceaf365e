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
 * `accepted`: all of the block, but what was set aside; `empty`: nothing in it is exported.
 * `refused`: the receiver refuses the content of the block. `waits`: try later.
 */
export type Sent = 'accepted' | 'empty' | 'refused' | 'waits';

/**
 * `name`: the same for each attempt of any gateway, and of no other block. `accepts`: whether the
 * receiver accepts other blocks, so that what it refuses may be set aside.
 */
export type SendUsage = (
  name: string,
  block: Block,
  accepts: boolean,
) => Promise<Sent>;

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
  async function sendOne(name: string, accepts: boolean): Promise<Sent> {
    const [block] = await read([name]);
    return block ? await sendUsage(name, block, accepts) : 'empty';
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
     * Sends the oldest first, until the receiver accepts no more or the time is up. If it refuses
     * the content of a block, the newest follow, and then again what it has refused. Resolves with
     * the begin of what still waits, Unix milliseconds; `null`: nothing waits.
     */
    async send(commit: Commit): Promise<number | null> {
      const end = performance.now() + SENDING;
      const pending = [...(await pendingNames())].flatMap(([minute, names]) =>
        names.map((name) => ({ minute, name })),
      );
      pending.sort((one, other) => one.minute - other.minute);
      const refused: typeof pending = [];
      let accepts = false;
      while (pending.length > 0 && performance.now() < end) {
        const next = pending.shift()!;
        const sent = await sendOne(next.name, accepts);
        if (sent === 'waits') {
          pending.push(next);
          break;
        }
        if (sent === 'refused') {
          refused.push(next);
          if (refused.length === 1) pending.reverse();
          continue;
        }
        await commit(new Map([[next.name, null]]), []);
        if (sent === 'empty') continue;
        accepts = true;
        pending.unshift(...refused.splice(0));
      }
      const waiting = [...pending, ...refused].map(({ minute }) => minute);
      return waiting.length === 0 ? null : Math.min(...waiting);
    },
  };
}

export type PendingExports = ReturnType<typeof createPendingExports>;
