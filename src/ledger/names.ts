import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DAY, HOUR, MINUTE } from '../common/time.ts';

/** The first parts of a minute; rows follow. */
export const HEAD = 0;
export const USES = 1;
/** Says that the process is gone. It is in the spool, and the next process there stores it. */
export const GONE = 2;
export const FIRST_ROWS = 3;

/**
 * Kinds of sums: a minute, the traffic of a minute, an hour, a day, a part of a minute that waits
 * for its export. Never change a kind: stored names contain it.
 */
export const SPANS = {
  m: MINUTE,
  t: MINUTE,
  h: HOUR,
  d: DAY,
  x: MINUTE,
} as const;
export type Kind = keyof typeof SPANS;

export const startOf = (at: number, span: number): number =>
  Math.floor(at / span) * span;

export interface SumName {
  readonly kind: Kind;
  /** Unix milliseconds. */
  readonly start: number;
}

/** Other content has another name, so a sum never changes. `start`: Unix milliseconds. */
export const sumName = (kind: Kind, start: number, bytes: Uint8Array): string =>
  `${kind}${start / MINUTE}-${crc32(bytes).toString(16).padStart(8, '0')}`;

/** Of what waits for its export: no other sum contains these parts. */
export function pendingName(start: number, parts: readonly string[]): string {
  const digest = createHash('sha256')
    .update([...parts].sort().join('\n'))
    .digest('hex')
    .slice(0, 32);
  return `x${start / MINUTE}-${digest}`;
}

/** `null`: not the name of a sum. */
export function sumIn(name: string): SumName | null {
  if (!/^(?:[mthd]\d{1,12}-[0-9a-f]{8}|x\d{1,12}-[0-9a-f]{32})$/.test(name))
    return null;
  return {
    kind: name[0] as Kind,
    start: Number.parseInt(name.slice(1), 10) * MINUTE,
  };
}

/** A part of the minute of a process. */
export interface PartName {
  /** Unix milliseconds. */
  readonly minute: number;
  /** Of the minute, rising, also if a clock is set back. */
  readonly number: number;
  /** From 0. */
  readonly part: number;
  readonly process: string;
}

export const partName = (name: PartName): string =>
  `${name.minute / MINUTE}/${name.number}/${name.part}/${name.process}`;

/** `null`: not the name of a part. */
export function partIn(name: string): PartName | null {
  const [, minute, number, part, process] =
    /^(\d{1,12})\/(\d{1,12})\/(\d{1,7})\/(.+)$/s.exec(name) ?? [];
  if (process === undefined) return null;
  return {
    minute: Number(minute) * MINUTE,
    number: Number(number),
    part: Number(part),
    process,
  };
}
