import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isLocked, lockFile } from '../../common/lock.ts';
import { Journal, JournalWriteError } from './journal.ts';
import { type Damage, formatDamage, type JournalReader, readJournal } from './read.ts';

export interface SlotOptions {
  readonly folder: string;
  readonly kind: string;
  readonly numbers: { readonly first: number; readonly step: number; readonly most: number };
  readonly failed: (error: unknown) => void;
}

/**
 * Reads the journal in a free slot of `folder` with the reader that `begin` creates, again for each restart; `journal`
 * continues it. `null` without a free slot or after an error, which `failed` receives.
 */
export function openSlot<R extends Pick<JournalReader, 'batch'>>(
  { folder, kind, numbers, failed }: SlotOptions,
  begin: () => R,
) {
  let slot: ReturnType<typeof takeSlot> = null;
  const damaged = (damage: Damage) => failed(new Error(formatDamage(damage)));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    slot = takeSlot(folder, kind, numbers);
    if (!slot) throw new Error('too many processes keep theirs there');
    const { name, release } = slot;
    const { reader, generations } = readJournal(folder, name, () => ({ ...begin(), damaged }));
    const journal = new Journal({ folder, name, older: generations, unsaved: failed });
    return { name, reader, journal, close: (compactor: Closing | null) => close(compactor).finally(release) };
  } catch (error) {
    slot?.release();
    failed(error);
    return null;
  }
}

type Closing = { close(): Promise<void> };

async function close(compactor: Closing | null): Promise<void> {
  try {
    await compactor?.close();
  } catch (error) {
    // The journal has reported it.
    if (!(error instanceof JournalWriteError)) throw error;
  }
}

/** `null`: all slots are in use. Throws if the folder is not writable. */
function takeSlot(folder: string, kind: string, { first, step, most }: SlotOptions['numbers']) {
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
