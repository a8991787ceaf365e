import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../common/lock.ts';
import { JournalWriteError } from './journal.ts';

/** A name that no other process has, for the files of this one. */
export interface JournalSlot {
  readonly name: string;
  release(): void;
}

/** Which numbers a process may take: from `first`, in steps of `step`, up to `most`. */
export interface SlotNumbers {
  readonly first: number;
  readonly step: number;
  readonly most: number;
}

/** What is made at a place of this process in `folder`; `null`: it has none, or that failed, which `failed` is told. */
export function openInSlot<T>(
  { folder, kind, numbers }: { readonly folder: string; readonly kind: string; readonly numbers: SlotNumbers },
  make: (slot: JournalSlot) => T,
  failed: (error: unknown) => void,
): T | null {
  let slot: JournalSlot | null = null;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    slot = takeSlot(folder, kind, numbers);
    if (slot) return make(slot);
    failed(new Error('too many processes keep theirs there'));
  } catch (error) {
    slot?.release();
    failed(error);
  }
  return null;
}

/** Writes what is left, as far as that can be, and lets others have the place. */
export async function closeSlot(slot: JournalSlot, compactor: { close(): Promise<void> } | null): Promise<void> {
  try {
    await compactor?.close();
  } catch (error) {
    // Whoever pushed what is not written was told.
    if (!(error instanceof JournalWriteError)) throw error;
  } finally {
    slot.release();
  }
}

/** The first `<kind>.<number>` in `folder` that no other process has; `null`: all are taken. Throws where the folder takes no files. */
function takeSlot(folder: string, kind: string, { first, step, most }: SlotNumbers): JournalSlot | null {
  for (let number = first; number <= most; number += step) {
    const name = `${kind}.${number}`;
    try {
      return { name, ...lockFile(join(folder, `${name}.lock`)) };
    } catch (error) {
      if (!isLocked(error)) throw error;
    }
  }
  return null;
}
