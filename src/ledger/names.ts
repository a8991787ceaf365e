import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { NotPacked } from '../observe/traffic/packing.ts';
import { type Block, blocksIn, damagedBlock } from './block.ts';

/**
 * Kinds of blocks: a minute, an hour, the minutes of an hour with their traffic only, a day. Never
 * change a letter: stored names contain it.
 */
export const SPANS = { m: MINUTE, h: HOUR, t: HOUR, d: DAY } as const;
export type Kind = keyof typeof SPANS;

export const startOf = (at: number, span: number): number => Math.floor(at / span) * span;

/** Of the block of this kind that begins at `start`, Unix milliseconds. */
export const blockName = (kind: Kind, start: number): string => `${kind}${start / MINUTE}`;

export function blockIn(name: string): { readonly kind: Kind; readonly start: number } | null {
  const [, kind, minute] = /^([mhtd])(\d{1,12})$/.exec(name) ?? [];
  return kind === undefined ? null : { kind: kind as Kind, start: Number(minute) * MINUTE };
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
    if (!(error instanceof NotPacked || error instanceof SyntaxError)) throw error;
    damaged(`the usage block ${name} is damaged: ${error.message}`);
    const block = blockIn(name);
    const start = block?.start ?? sliceIn(name)!.minute;
    return [damagedBlock(start, block === null ? MINUTE : SPANS[block.kind])];
  }
}

export interface SliceName {
  /** Unix milliseconds. */
  readonly minute: number;
  readonly process: string;
  /** Rises with each slice of the process. */
  readonly number: number;
}

export const sliceName = ({ minute, process, number }: SliceName): string =>
  `${minute / MINUTE}/${number}/${process}`;

/** `null`: of another version. */
export function sliceIn(name: string): SliceName | null {
  const [, minute, number, process] = /^(\d{1,12})\/(\d{1,12})\/(.+)$/s.exec(name) ?? [];
  if (process === undefined) return null;
  return { minute: Number(minute) * MINUTE, number: Number(number), process };
}
