import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/usr/local/sbin', '/opt/homebrew/bin'];

/** Finds the program of a package with the same name, or installs Debian's package if it may. */
export function installed(name: string): string {
  const find = () => FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const found = find();
  if (found) return found;
  try {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', name], { stdio: 'ignore' });
    return find()!;
  } catch (cause) {
    throw new Error(`these tests need ${name}: run \`apt-get install ${name}\``, { cause });
  }
}
