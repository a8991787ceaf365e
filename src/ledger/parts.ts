import { DAY, HOUR } from '../common/time.ts';
import { GONE, HEAD, type PartName, partIn, startOf, sumIn } from './names.ts';
import type { StoredPart, UsageIndex } from './store.ts';
import { type Source, valueUnder } from './value.ts';

/**
 * Milliseconds after which a silent process is taken to be gone, if the others have stored as many
 * hours since. So a clock that jumps takes nothing from a process that runs.
 */
const SILENT = DAY;

interface NamedPart extends PartName, StoredPart {
  readonly name: string;
}

/** A part that its process does not store again. */
export interface SettledPart extends NamedPart {
  /** Whether nothing can store it again: what an ended process has left, the next one may. */
  readonly isSure: boolean;
}

/** Parts of this version. */
export function partsIn({ parts }: Pick<UsageIndex, 'parts'>): NamedPart[] {
  return [...parts].flatMap(([name, stored]) => {
    const named = partIn(name);
    return named === null ? [] : [{ ...named, ...stored, name }];
  });
}

/** Parts that are complete, by minute. */
export function settledIn(index: UsageIndex): Map<number, SettledPart[]> {
  const settled: SettledPart[] = [];
  const hours = hoursIn(index);
  const byProcess = Map.groupBy(partsIn(index), ({ process }) => process);
  for (const parts of byProcess.values()) {
    const sources = parts.flatMap(sourcesIn);
    const open = Math.max(0, ...sources.map(({ open }) => open));
    const hasEnded = sources.some(({ ended }) => ended);
    const age = Math.min(...parts.map((part) => part.age));
    const last = Math.max(...parts.map(({ minute }) => minute));
    const isGone =
      age >= SILENT &&
      hours.filter((hour) => hour > last).length >= SILENT / HOUR;
    for (const part of parts) {
      const isSure = part.number < open || age === Infinity;
      if (isSure || hasEnded || isGone) settled.push({ ...part, isSure });
    }
  }
  return Map.groupBy(settled, ({ minute }) => minute);
}

/** Hours in which a gateway ran, each once: also an idle one stores its minutes. */
function hoursIn({ sizes }: UsageIndex): number[] {
  const sums = [...sizes.keys()].flatMap((name) => sumIn(name) ?? []);
  return [...new Set(sums.map(({ start }) => startOf(start, HOUR)))];
}

/** What a process says of itself. */
function sourcesIn({ part, process, name, bytes }: NamedPart): Source[] {
  if (part !== HEAD && part !== GONE) return [];
  // What reads the part for its content reports a damage.
  const { sources } = valueUnder(name, bytes, () => {});
  return sources[process] === undefined ? [] : [sources[process]];
}
