import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../common/lock.ts';
import { JournalWriteError } from './journal.ts';

export interface JournalSlot {
  readonly name: string;
  release(): void;
}

export interface SlotNumbers {
  readonly first: number;
  readonly step: number;
  readonly most: number;
}

/**
 * The result of `make` in a free slot of `folder`; `null` without a free slot or after an error, which `failed`
 * receives.
 */
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

export async function closeSlot(slot: JournalSlot, compactor: { close(): Promise<void> } | null): Promise<void> {
  try {
    await compactor?.close();
  } catch (error) {
    // The journal has reported it.
    if (!(error instanceof JournalWriteError)) throw error;
  } finally {
    slot.release();
  }
}

/** `null`: all slots are in use. Throws if the folder is not writable. */
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
