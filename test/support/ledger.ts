import type { Sent } from '../../src/ledger/pending-exports.ts';
import { createUsageReader, type UsageReader } from '../../src/ledger/reader.ts';
import {
  type Commit,
  type PutResult,
  type TakenPart,
  TurnLost,
  type UsageSource,
  type UsageStore,
} from '../../src/ledger/store.ts';
import { type UsageClient, unpackRows } from '../../src/ledger/usage-table.ts';
import type { Value } from '../../src/ledger/value.ts';

type Fails = 'no' | 'before' | 'after';

interface Content {
  readonly parts: Map<string, { bytes: Buffer; at: number | null }>;
  readonly taken: Map<string, number>;
  readonly sums: Map<string, Buffer>;
}

/** A store in memory, as Redis, that fails when told to. */
export class MemoryUsage implements UsageStore {
  mayLose = 10_000;
  content: Content = { parts: new Map(), taken: new Map(), sums: new Map() };
  /** Whether the next parts are refused; `after`: although they were stored. */
  fails: Fails = 'no';
  /** Whether the next sums are refused; `after`: although they were stored. */
  commitFails: Fails = 'no';
  /** Commits before `commitFails` counts. */
  commitsBefore = 0;
  hasTurn = true;
  readonly #clock: () => number;

  constructor(clock: () => number = () => 0) {
    this.#clock = clock;
  }

  get sums(): ReadonlyMap<string, Buffer> {
    return this.content.sums;
  }

  /** What a failover can bring back. */
  copy(): Content {
    const { parts, taken, sums } = this.content;
    return { parts: new Map(parts), taken: new Map(taken), sums: new Map(sums) };
  }

  async put(given: ReadonlyMap<string, Buffer>, isLast = false): Promise<PutResult> {
    if (this.fails === 'before') throw new Error('the store is down');
    const { parts, taken } = this.content;
    const refused: TakenPart[] = [];
    const added = new Set<string>();
    for (const [name, bytes] of given) {
      const requests = taken.get(name);
      if (requests !== undefined) {
        refused.push({ name, requests });
        continue;
      }
      if (!parts.has(name)) added.add(name);
      parts.set(name, { bytes, at: isLast ? null : this.#clock() });
    }
    if (this.fails === 'after') throw new Error('the reply was lost');
    return { taken: refused, added };
  }

  async index() {
    const now = this.#clock();
    const { parts, sums } = this.content;
    return {
      parts: new Map(
        [...parts].map(([name, { bytes, at }]) => [
          name,
          { bytes, age: at === null ? Number.POSITIVE_INFINITY : Math.max(0, now - at) },
        ]),
      ),
      sizes: new Map([...sums].map(([name, { length }]) => [name, length])),
    };
  }

  read = async (names: readonly string[]) =>
    names.map((name) => this.content.sums.get(name) ?? null);

  /** Its clock; `null`: that of the caller. */
  time: number | null = null;

  now = async (given: number) => this.time ?? given;

  async inTurn(work: (commit: Commit) => Promise<void>): Promise<void> {
    await work(async (sums, taken) => {
      if (!this.hasTurn) throw new TurnLost('another has it');
      const fails = this.commitsBefore-- > 0 ? 'no' : this.commitFails;
      if (fails === 'before') throw new Error('the process was killed');
      for (const [name, bytes] of sums)
        if (bytes === null) this.content.sums.delete(name);
        else this.content.sums.set(name, bytes);
      for (const [name, requests] of taken) {
        this.content.parts.delete(name);
        if (requests !== null) this.content.taken.set(name, requests);
      }
      if (fails === 'after') throw new Error('the process was killed');
    });
  }

  async close(): Promise<void> {}
}

export const readerOf = (store: UsageSource) =>
  createUsageReader(store, (damage) => {
    throw new Error(damage);
  });

export type Sums = Map<UsageClient['key'], { units: number; requests: number }>;

/** Units and requests by key in a period. */
export async function usageIn(
  reader: UsageReader,
  period: { from: number; to: number },
  grain: 'minute' | 'hour' | 'day' = 'day',
): Promise<Sums> {
  const found: Sums = new Map();
  for await (const value of reader.values(period, grain)) await addUsage(found, value);
  return found;
}

async function addUsage(found: Sums, value: Value): Promise<void> {
  for (const rows of value.usage())
    unpackRows(rows, ({ clients }) => (row) => {
      const { key } = clients[row.client]!;
      const existing = found.get(key) ?? { units: 0, requests: 0 };
      const requests = Array.from(row.requests).reduce((sum, count) => sum + count, 0);
      found.set(key, { units: existing.units + row.units, requests: existing.requests + requests });
    });
}

/** A receiver of exports that counts each name once, and may fail before or after it. */
export class UsageCounter {
  readonly sums: Sums = new Map();
  fails: Fails = 'no';
  readonly #names = new Set<string>();

  readonly accept = async (name: string, value: Value): Promise<Sent> => {
    if (this.fails === 'before') return 'waits';
    if (!this.#names.has(name)) await addUsage(this.sums, value);
    this.#names.add(name);
    return this.fails === 'no' ? 'accepted' : 'waits';
  };
}
