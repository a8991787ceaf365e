import { join } from 'node:path';
import { tryLock } from '../../common/lock.ts';
import { makeDataFolder } from '../data-folder.ts';
import { createJournal, ignoreWriteError } from './journal.ts';
import { type JournalReader, readJournal } from './read.ts';

interface SlotOptions {
  readonly folder: string;
  readonly kind: string;
  readonly numbers: {
    readonly first: number;
    readonly step: number;
    readonly most: number;
  };
  readonly failed: (error: unknown) => void;
}

/**
 * Reads the journal in a free slot of `folder` with the reader that `begin` creates, again for each
 * restart; `journal` continues it. `null` without a free slot or after an error, which `failed`
 * receives.
 */
export function openSlot<R extends Pick<JournalReader, 'batch'>>(
  { folder, kind, numbers, failed }: SlotOptions,
  begin: () => R,
) {
  let slot: ReturnType<typeof takeSlot> = null;
  const damaged = (damage: string) => failed(new Error(damage));
  try {
    makeDataFolder(folder);
    slot = takeSlot(folder, kind, numbers);
    if (!slot) throw new Error('too many processes keep theirs there');
    const { name, release } = slot;
    const { reader, generations } = readJournal(folder, name, () => ({
      ...begin(),
      damaged,
    }));
    const journal = createJournal({
      folder,
      name,
      older: generations,
      unsaved: failed,
    });
    return {
      name,
      reader,
      journal,
      close: (compactor: { close(): Promise<void> } | null) =>
        (compactor?.close() ?? Promise.resolve())
          .catch(ignoreWriteError)
          .finally(release),
    };
  } catch (error) {
    slot?.release();
    failed(error);
    return null;
  }
}

/** `null`: all slots are in use. Throws if the folder is not writable. */
function takeSlot(
  folder: string,
  kind: string,
  { first, step, most }: SlotOptions['numbers'],
) {
  for (let number = first; number <= most; number += step) {
    const name = `${kind}.${number}`;
    const lock = tryLock(join(folder, `${name}.lock`));
    if (lock) return { name, ...lock };
  }
  return null;
}
