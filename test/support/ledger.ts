import type { Block } from '../../src/ledger/block.ts';
import type { Sent } from '../../src/ledger/pending-exports.ts';
import { createLedgerReader, type LedgerReader } from '../../src/ledger/reader.ts';
import { type LedgerStore, TurnLost } from '../../src/ledger/store.ts';
import { type UsageClient, unpackUsage } from '../../src/ledger/usage-table.ts';

/** A backend in memory that fails when told to. */
export class MemoryLedger implements LedgerStore {
  readonly all = new Map<string, Buffer>();
  readonly blocks = new Map<string, Buffer>();
  /** Whether the next addition rejects; `after`: although it was made. */
  fails: 'no' | 'before' | 'after' = 'no';
  /** Whether slices are removed that blocks contain. */
  forgets = true;
  hasTurn = true;
  /** Blocks that the next commit stores before a crash, as in a data folder. */
  storesBeforeCrash = Number.POSITIVE_INFINITY;

  async add(slices: ReadonlyMap<string, Buffer>): Promise<number> {
    if (this.fails === 'before') throw new Error('the backend is down');
    const before = this.all.size;
    for (const [name, bytes] of slices) this.all.set(name, bytes);
    if (this.fails === 'after') throw new Error('the reply was lost');
    return this.all.size - before;
  }

  slices = async () => new Map(this.all);
  sizes = async () => new Map([...this.blocks].map(([name, { length }]) => [name, length]));
  read = async (names: readonly string[]) => names.map((name) => this.blocks.get(name) ?? null);

  /** Its clock; `null`: that of the caller. */
  time: number | null = null;

  now = async (given: number) => this.time ?? given;

  async inTurn(work: Parameters<LedgerStore['inTurn']>[0]): Promise<void> {
    await work(async (blocks, slices) => {
      if (!this.hasTurn) throw new TurnLost('another has it');
      for (const [name, block] of blocks) {
        if (this.storesBeforeCrash-- === 0) throw new Error('the process was killed');
        if (block === null) this.blocks.delete(name);
        else this.blocks.set(name, block);
      }
      if (this.forgets) for (const name of slices) this.all.delete(name);
    });
  }

  async close(): Promise<void> {}
}

export const readerOf = (backend: Pick<LedgerStore, 'slices' | 'sizes' | 'read'>) =>
  createLedgerReader(backend, (damage) => {
    throw new Error(damage);
  });

type Sums = Map<UsageClient['key'], { units: number; requests: number }>;

/** Units and requests by key in a period. */
export async function usageIn(
  reader: LedgerReader,
  period: { from: number; to: number },
  grain: 'minute' | 'hour' | 'day' = 'day',
): Promise<Sums> {
  const found: Sums = new Map();
  for await (const block of reader.blocks(period, grain)) await addUsage(found, block);
  return found;
}

async function addUsage(found: Sums, block: Block): Promise<void> {
  const rows = unpackUsage(await block.read('usage'), ({ clients }) => (row) => {
    const { key } = clients[row.client]!;
    const known = found.get(key) ?? { units: 0, requests: 0 };
    const requests = Array.from(row.requests).reduce((sum, count) => sum + count, 0);
    found.set(key, { units: known.units + row.units, requests: known.requests + requests });
  });
  for (const _ of rows);
}

/** A receiver of exports that counts each name once, and may fail before or after it. */
export class UsageCounter {
  readonly sums: Sums = new Map();
  fails: 'no' | 'before' | 'after' = 'no';
  readonly #names = new Set<string>();

  readonly accept = async (name: string, block: Block): Promise<Sent> => {
    if (this.fails === 'before') return 'waits';
    if (!this.#names.has(name)) await addUsage(this.sums, block);
    this.#names.add(name);
    return this.fails === 'no' ? 'accepted' : 'waits';
  };
}
