import { join } from 'node:path';
import { type Lock, tryLock } from '../../common/lock.ts';
import { makeDataFolder } from '../data-folder.ts';

interface SlotNumbers {
  readonly first: number;
  readonly step: number;
  readonly most: number;
}

export interface Slot extends Lock {
  /** Kind of the rows that belong to this process alone. */
  readonly kind: string;
}

/**
 * A kind of rows in a folder for one process at a time: `<kind>.<number>`, the first that no living
 * process holds. Throws if all are in use, or if the folder cannot be written.
 */
export function takeSlot(
  folder: string,
  kind: string,
  { first, step, most }: SlotNumbers,
): Slot {
  makeDataFolder(folder);
  for (let number = first; number <= most; number += step) {
    const name = `${kind}.${number}`;
    const lock = tryLock(join(folder, `${name}.lock`));
    if (lock) return { kind: name, release: () => lock.release() };
  }
  throw new Error('too many processes keep theirs there');
}
