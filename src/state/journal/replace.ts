import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolderNow } from '../../common/folder.ts';
import { generationFile, headerOf, headOf } from './format.ts';
import { generationsIn } from './read.ts';

/** Replaces the content of the journal `name`. Use it only while no process writes the journal. */
export function replaceJournal(
  folder: string,
  name: string,
  payloads: Iterable<Uint8Array>,
): void {
  const older = generationsIn(folder, name);
  const file = join(folder, generationFile(name, (older.at(-1) ?? 0) + 1));
  const fd = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(fd, headerOf(name));
    for (const payload of payloads) {
      writeFileSync(fd, headOf(payload));
      writeFileSync(fd, payload);
    }
    fsyncSync(fd);
  } catch (error) {
    rmSync(file);
    throw error;
  } finally {
    closeSync(fd);
  }
  syncFolderNow(folder);
  // Oldest first, each durably: see `Journal.dropOlder`.
  for (const generation of older) {
    rmSync(join(folder, generationFile(name, generation)));
    syncFolderNow(folder);
  }
}
