import { createHash } from 'node:crypto';
import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { NotPacked } from '../observe/traffic/packing.ts';
import { type Block, blocksIn, damagedBlock, type Sources } from './block.ts';
import type { LedgerStore } from './store.ts';

/**
 * Kinds of blocks: a minute, an hour, the minutes of an hour with their traffic only, a day, a part
 * of a minute that waits for its export. Never change a kind: stored names contain it.
 */
export const SPANS = {
  m: MINUTE,
  h: HOUR,
  t: HOUR,
  d: DAY,
  x: MINUTE,
} as const;
export type Kind = keyof typeof SPANS;

export const startOf = (at: number, span: number): number =>
  Math.floor(at / span) * span;

/** The spans of `each` in `span`, all in milliseconds. */
export const startsIn = (start: number, span: number, each: number) =>
  Array.from({ length: span / each }, (_, i) => start + i * each);

/** Of the block of this kind that begins at `start`, Unix milliseconds. */
export const blockName = (kind: Kind, start: number): string =>
  `${kind}${start / MINUTE}`;

/** Of a block that waits for its export: no other contains the slices of these sources. */
export function pendingName(start: number, sources: Sources): string {
  const parts = Object.entries(sources).map(
    ([process, { number }]) => `${number} ${process}`,
  );
  const digest = createHash('sha256')
    .update(parts.sort().join('\n'))
    .digest('hex')
    .slice(0, 32);
  return `${blockName('x', start)}-${digest}`;
}

export function blockIn(
  name: string,
): { readonly kind: Kind; readonly start: number } | null {
  if (!/^(?:[mhtd]\d{1,12}|x\d{1,12}-[0-9a-f]{32})$/.test(name)) return null;
  return {
    kind: name[0] as Kind,
    start: Number.parseInt(name.slice(1), 10) * MINUTE,
  };
}

/**
 * Of what is stored under this name of a block or a slice. A damaged one is reported to `damaged`.
 */
export function blocksUnder(
  name: string,
  bytes: Uint8Array,
  damaged: (damage: string) => void,
): Block[] {
  try {
    return blocksIn(bytes);
  } catch (error) {
    if (!(error instanceof NotPacked || error instanceof SyntaxError))
      throw error;
    damaged(`the usage block ${name} is damaged: ${error.message}`);
    const block = blockIn(name);
    const start = block?.start ?? sliceIn(name)!.minute;
    return [damagedBlock(start, block === null ? MINUTE : SPANS[block.kind])];
  }
}

/** The stored blocks with these names. Rejects if the store is unreachable. */
export async function blocksNamed(
  names: readonly string[],
  store: Pick<LedgerStore, 'read'>,
  damaged: (damage: string) => void,
): Promise<Block[]> {
  if (names.length === 0) return [];
  const found = await store.read(names);
  return found.flatMap((bytes, i) =>
    bytes === null ? [] : blocksUnder(names[i]!, bytes, damaged),
  );
}

interface SliceName {
  /** Unix milliseconds. */
  readonly minute: number;
  readonly process: string;
  /** Rises with each slice of the process. */
  readonly number: number;
}

export interface Slice extends SliceName {
  readonly name: string;
  readonly bytes: Buffer;
}

export const sliceName = ({ minute, process, number }: SliceName): string =>
  `${minute / MINUTE}/${number}/${process}`;

/** `null`: of another version. */
export function sliceIn(name: string): SliceName | null {
  const [, minute, number, process] =
    /^(\d{1,12})\/(\d{1,12})\/(.+)$/s.exec(name) ?? [];
  if (process === undefined) return null;
  return { minute: Number(minute) * MINUTE, number: Number(number), process };
}

/** Slices of this version. */
export function slicesIn(stored: ReadonlyMap<string, Buffer>): Slice[] {
  return [...stored].flatMap(([name, bytes]) => {
    const named = sliceIn(name);
    return named === null ? [] : [{ ...named, name, bytes }];
  });
}

export const byMinute = (slices: readonly Slice[]) =>
  Map.groupBy(slices, ({ minute }) => minute);

export const byHour = (slices: readonly Slice[]) =>
  Map.groupBy(slices, ({ minute }) => startOf(minute, HOUR));

/** Blocks of the slices that `known` does not contain yet. */
export function* newBlocks(
  slices: readonly Slice[],
  known: Sources,
  damaged: (damage: string) => void,
): Generator<Block> {
  for (const { name, bytes, process, number } of slices)
    if (number > (known[process]?.number ?? 0))
      yield* blocksUnder(name, bytes, damaged);
}
