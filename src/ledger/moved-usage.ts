import { randomUUID } from 'node:crypto';
import { DAY, MINUTE } from '../common/time.ts';
import { GAP } from './coverage.ts';
import { HEAD, partIn, partName, startOf, sumIn } from './names.ts';
import { type NamedValue, storedBy } from './reader.ts';
import { createRollup } from './rollup.ts';
import type { UsageSource, UsageStore } from './store.ts';
import { unpackRows } from './usage-table.ts';
import { NO_CONTENT, packValue, type Source, valueUnder } from './value.ts';

/** A part or a sum on its way to another store. `bytes`: in Base64. */
export interface MovedUsage {
  readonly name: string;
  readonly bytes: string;
}

/** Bytes that are moved at once. */
const AT_ONCE = 1 << 20;
const ALWAYS = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };

/**
 * Everything that a store has, each request once, also while gateways count in it. Rejects if the
 * store is unreachable.
 */
export async function* usageIn(
  store: UsageSource,
): AsyncGenerator<MovedUsage[]> {
  for await (const found of storedBy(store, DAY, ALWAYS, (sums) => sums))
    for (const group of groups(found))
      yield group.map(({ name, bytes }) => ({
        name,
        bytes: bytes.toString('base64'),
      }));
}

type Found = NamedValue & { readonly bytes: Buffer };

/** What is not missing, in groups of `AT_ONCE` bytes, or of one. */
function* groups(all: readonly NamedValue[]): Generator<Found[]> {
  let group: Found[] = [];
  let size = 0;
  for (const one of all) {
    if (one.bytes === null) continue;
    size += one.bytes.length;
    if (group.length > 0 && size > AT_ONCE) {
      yield group;
      group = [];
      size = one.bytes.length;
    }
    group.push(one as Found);
  }
  if (group.length > 0) yield group;
}

/** Whether a request with a valid key is in it. Rejects if the store is unreachable. */
export async function hasUsageOfKeys(store: UsageSource): Promise<boolean> {
  for await (const found of storedBy(store, DAY, ALWAYS, (sums) => sums))
    for (const { name, bytes } of found)
      for (const rows of valueUnder(name, bytes, () => {}).usage())
        if (hasKey(rows)) return true;
  return false;
}

function hasKey(rows: Uint8Array): boolean {
  let found = false;
  unpackRows(rows, ({ clients }) => {
    found = clients.some(({ key }) => key !== null);
    return () => {};
  });
  return found;
}

/** Stores what `usageIn` has read. Rejects if the store is unreachable, or if another writes it. */
export async function addUsage(
  store: UsageStore,
  values: readonly MovedUsage[],
): Promise<void> {
  const all = values.map(
    ({ name, bytes }) => [name, Buffer.from(bytes, 'base64')] as const,
  );
  const isSum = ([name]: (typeof all)[number]) => sumIn(name) !== null;
  const parts = new Map(all.filter((one) => !isSum(one)));
  if (parts.size > 0) await store.put(parts, true);
  const sums = new Map(all.filter(isSum));
  if (sums.size === 0) return;
  let hasTurn = false;
  await store.inTurn(async (commit) => {
    await commit(sums, new Map());
    hasTurn = true;
  });
  if (!hasTurn) throw new Error('another process writes usage there');
}

/** Adds all parts up, so that no gateway exports them. `now`: Unix milliseconds. */
export async function addUpUsage(
  store: UsageStore,
  now: number,
): Promise<void> {
  const all = Number.POSITIVE_INFINITY;
  const rollup = createRollup({
    store,
    retention: () => ({ hours: all, days: all, maxBytes: all }),
    damaged(damage) {
      throw new Error(damage);
    },
  });
  const report = await rollup.run(now);
  if (report === null) throw new Error('another process writes usage there');
}

/**
 * The minute of what a gateway still exports, Unix milliseconds: a sum that waits for it, or a part,
 * if `exportsParts`. `null`: nothing.
 */
export function waitingMinute(
  { name }: MovedUsage,
  exportsParts: boolean,
): number | null {
  if (isPending({ name })) return sumIn(name)!.start;
  return exportsParts ? (partIn(name)?.minute ?? null) : null;
}

/** Whether it is only a copy for the export. */
export const isPending = ({ name }: Pick<MovedUsage, 'name'>): boolean =>
  sumIn(name)?.kind === 'x';

/** Shows in reports that requests before `until` may be missing, Unix milliseconds. */
export function gapUntil(until: number): MovedUsage {
  const [name, bytes] = markerPart(`${GAP}${randomUUID()}`, until, 0);
  return { name, bytes: bytes.toString('base64') };
}

/**
 * A part without requests, of a process that ended at `at` (Unix milliseconds) and lost `dropped`
 * requests: reports then name what is missing.
 */
export function markerPart(
  process: string,
  at: number,
  dropped: number,
): readonly [name: string, bytes: Buffer] {
  const minute = startOf(at, MINUTE);
  const source: Source = {
    since: at,
    until: at,
    open: 0,
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
  const name = partName({ minute, number: 1, part: HEAD, process });
  return [name, packValue(head, NO_CONTENT)];
}
