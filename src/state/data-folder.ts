import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { syncFolderNow } from '../common/folder.ts';

/**
 * Files that gateways and the demo store make in a data folder. Other files there are left as they
 * are.
 */
const OWN_FILES: readonly RegExp[] = [
  /^(state|records|counters|webhooks|store)\.db(-wal|-shm|-journal)?$/,
  /^(gateway|records|usage\.\d+|last-known\.\d+)\.lock(-journal)?$/,
  /^(state\.last-change|contract-copy-[0-9a-f]+\.json)$/,
];

/** Permissions of group and others. */
const OTHERS = 0o077;

/**
 * Creates a missing data folder durably, with mode 0700, and gives its files mode 0600: they have
 * hashes of secrets, accounts and a token. An existing folder keeps its mode, because a volume has
 * that of its administrator; files of another user keep theirs, because only their owner can change
 * it. Throws errors of the file system.
 */
export function makeDataFolder(folder: string): void {
  const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (made === undefined) restrictFiles(folder);
  else syncParents(folder, dirname(resolve(made)));
}

/** Files survive power loss only if their folder does. `top` is the last parent to sync. */
function syncParents(folder: string, top: string): void {
  for (let each = resolve(folder); each !== top; each = dirname(each))
    syncFolderNow(dirname(each));
}

function restrictFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (OWN_FILES.some((form) => form.test(name)))
      restrictFile(join(folder, name));
  }
}

function restrictFile(file: string): void {
  try {
    const { uid, mode } = statSync(file);
    if (uid === process.getuid?.() && (mode & OTHERS) !== 0)
      chmodSync(file, 0o600);
  } catch (error) {
    // Another process has removed it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
