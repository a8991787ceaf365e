import { kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';

/** A set of limits as scripts take it: ids of the windows, windows, ladder. */
export type PackedLimits = readonly [ids: string, windows: string, ladder: string];

const packed = new WeakMap<Limits, PackedLimits>();

/** Packs each set of limits once; the clients of a plan share theirs. */
export function packLimits(limits: Limits): PackedLimits {
  let result = packed.get(limits);
  if (!result) {
    result = [limits.windows.map(idOf).join(','), JSON.stringify(limits.windows.flatMap(numbersOf)), ladderOf(limits)];
    packed.set(limits, result);
  }
  return result;
}

/** What `windowId` is in process: the same kind and span is the same counter. */
function idOf(window: Window): string {
  return `${kindOf(window).mark}${window.span}`;
}

function numbersOf(window: Window): number[] {
  return [kindOf(window).code, window.span, window.limit];
}

function ladderOf({ ladder }: Limits): string {
  if (!ladder) return '';
  return JSON.stringify([ladder.strikes, ladder.within, ladder.grace, ladder.forget, ...ladder.lengths]);
}
