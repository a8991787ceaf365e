import { randomUUID } from 'node:crypto';
import { MINUTE } from '../common/time.ts';
import { packBlock, type Source } from './block.ts';
import { GAP } from './coverage.ts';
import { blockIn, blocksUnder, sliceIn, sliceName, startOf } from './names.ts';
import { createRollup } from './rollup.ts';
import type { LedgerIndex, LedgerStore } from './store.ts';
import { unpackUsage } from './usage-table.ts';

/** A slice or a block on its way to another store. `bytes`: in Base64. */
export interface MovedUsage {
  readonly name: string;
  readonly bytes: string;
}

/** Bytes that are moved at once. */
const AT_ONCE = 1 << 20;
const EMPTY = Buffer.of();

/**
 * Everything that a ledger has, also while gateways count in it: slices become blocks, and blocks
 * parts of larger ones, so in this order nothing is missing. Rejects if the store is unreachable.
 */
export async function* usageIn(
  store: LedgerIndex,
): AsyncGenerator<MovedUsage[]> {
  const slices = await store.slices();
  const sizes = await store.sizes();
  for (const names of groups([...slices], ([, { length }]) => length))
    yield names.map(([name, bytes]) => moved(name, bytes));
  for (const group of groups([...sizes], ([, size]) => size)) {
    const names = group.map(([name]) => name);
    const found = await store.read(names);
    yield names.flatMap((name, i) => {
      const bytes = found[i];
      return bytes ? [moved(name, bytes)] : [];
    });
  }
}

/** Whether a request with a valid key is in it. Rejects if the store is unreachable. */
export async function hasUsageOfKeys(store: LedgerIndex): Promise<boolean> {
  for await (const values of usageIn(store))
    for (const { name, bytes } of values)
      for (const block of blocksUnder(
        name,
        Buffer.from(bytes, 'base64'),
        () => {},
      ))
        if (hasKey(await block.read('usage'))) return true;
  return false;
}

function hasKey(usage: Uint8Array): boolean {
  let found = false;
  const reading = unpackUsage(usage, ({ clients }) => {
    found = clients.some(({ key }) => key !== null);
    return () => {};
  });
  reading.next();
  return found;
}

/** Stores what `usageIn` has read. Rejects if the store is unreachable, or if another writes it. */
export async function addUsage(
  store: LedgerStore,
  values: readonly MovedUsage[],
): Promise<void> {
  const all = values.map(
    ({ name, bytes }) => [name, Buffer.from(bytes, 'base64')] as const,
  );
  const isBlock = ([name]: (typeof all)[number]) => blockIn(name) !== null;
  await store.add(new Map(all.filter((one) => !isBlock(one))));
  const blocks = new Map(all.filter(isBlock));
  if (blocks.size === 0) return;
  let hasTurn = false;
  await store.inTurn(async (commit) => {
    await commit(blocks, []);
    hasTurn = true;
  });
  if (!hasTurn) throw new Error('another process writes usage there');
}

/** Makes blocks of all slices, so that no gateway exports them. `now`: Unix milliseconds. */
export async function addUpUsage(
  store: LedgerStore,
  now: number,
): Promise<void> {
  const all = Number.POSITIVE_INFINITY;
  const retention = { hours: all, days: all, maxBytes: all };
  // The minute that has not ended, too.
  await createRollup(store, () => retention, failed).run(now + 2 * MINUTE);
}

function failed(damage: string): never {
  throw new Error(damage);
}

/** The values in groups of `AT_ONCE` bytes, or of one value. */
function* groups<T>(
  values: readonly T[],
  sizeOf: (value: T) => number,
): Generator<T[]> {
  let group: T[] = [];
  let size = 0;
  for (const value of values) {
    size += sizeOf(value);
    if (group.length > 0 && size > AT_ONCE) {
      yield group;
      group = [];
      size = sizeOf(value);
    }
    group.push(value);
  }
  if (group.length > 0) yield group;
}

const moved = (name: string, bytes: Buffer): MovedUsage => ({
  name,
  bytes: bytes.toString('base64'),
});

/**
 * The minute of what a gateway still exports, Unix milliseconds: a block that waits for it, or a
 * slice, if `exportsSlices`. `null`: nothing.
 */
export function waitingMinute(
  { name }: MovedUsage,
  exportsSlices: boolean,
): number | null {
  if (isPending({ name })) return blockIn(name)!.start;
  return exportsSlices ? (sliceIn(name)?.minute ?? null) : null;
}

/** Whether it is only a copy for the export. */
export const isPending = ({ name }: Pick<MovedUsage, 'name'>): boolean =>
  blockIn(name)?.kind === 'x';

/** Shows in reports that requests before `until` may be missing, Unix milliseconds. */
export function gapUntil(until: number): MovedUsage {
  const process = `${GAP}${randomUUID()}`;
  return moved(...markerSlice(process, until, 0));
}

/**
 * A slice without requests, of a process that ended at `at` (Unix milliseconds) and lost `dropped`
 * slices: reports then name what is missing.
 */
export function markerSlice(
  process: string,
  at: number,
  dropped: number,
): readonly [name: string, bytes: Buffer] {
  const minute = startOf(at, MINUTE);
  const source: Source = {
    number: 1,
    since: at,
    until: at,
    ended: true,
    dropped,
    most: 0,
  };
  const head = {
    start: minute,
    span: MINUTE,
    policies: 0,
    sources: { [process]: source },
  };
  const sections = { traffic: EMPTY, usage: EMPTY, uses: EMPTY };
  const name = sliceName({ minute, process, number: 1 });
  return [name, packBlock(head, sections)];
}
