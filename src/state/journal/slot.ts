import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE, replaceFile } from '../../common/folder.ts';
import { tryLock } from '../../common/lock.ts';
import { makeDataFolder } from '../data-folder.ts';
import { generationFile, headerOf } from './format.ts';
import { createJournal, ignoreWriteError } from './journal.ts';
import { type Generation, type JournalReader, readJournal } from './read.ts';

interface SlotOptions {
  readonly folder: string;
  readonly kind: string;
  readonly numbers: {
    readonly first: number;
    readonly step: number;
    readonly most: number;
  };
  readonly failed: (error: unknown) => void;
  /** Whether the slot lists its files beside them, to notice missing ones. */
  readonly isListed?: boolean;
}

/** Beside the files of a journal: their generations. */
export const listFile = (name: string): string => `${name}.files`;

/**
 * Reads the journal in a free slot of `folder` with the reader that `begin` creates, again for each
 * restart; `journal` continues it. `missing`: files that are listed, and missing or empty. `null` without a free slot or after an error, which `failed`
 * receives.
 */
export function openSlot<R extends Pick<JournalReader, 'batch'>>(
  { folder, kind, numbers, failed, isListed = false }: SlotOptions,
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
    const list = join(folder, listFile(name));
    const journal = createJournal({
      folder,
      name,
      older: generations,
      unsaved: failed,
      ...(isListed && {
        holds: (held) => replaceFile(list, `${held.join(' ')}\n`, PRIVATE),
      }),
    });
    return {
      name,
      reader,
      journal,
      missing: isListed ? missingIn(list, name, generations) : [],
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

function missingIn(
  list: string,
  name: string,
  there: readonly Generation[],
): string[] {
  if (!existsSync(list)) return [];
  const listed = readFileSync(list, 'latin1').match(/\d+/g) ?? [];
  const smallest = headerOf(name).length;
  const isWhole = (generation: number) =>
    there.some(({ number, size }) => number === generation && size >= smallest);
  return listed
    .map(Number)
    .filter((generation) => !isWhole(generation))
    .map((generation) => generationFile(name, generation));
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
