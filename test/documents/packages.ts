import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { DocumentList, ListedPackage } from './list.ts';

const run = promisify(execFile);

const MINUTES = 60_000;

/**
 * Fetches a package of the list with npm, unless the folder has it. Returns the folder of its
 * files.
 *
 * @throws Error if its hash is not that of the list.
 */
export async function fetchPackage(
  { name, version, integrity }: ListedPackage,
  folder: string,
): Promise<string> {
  const own = join(folder, `${name.replace('/', '+')}@${version}`);
  if (existsSync(own)) return own;
  const half = `${own}.part`;
  mkdirSync(half, { recursive: true });
  const packed = await run(
    'npm',
    ['pack', `${name}@${version}`, '--silent', '--ignore-scripts', '--pack-destination', half],
    { timeout: 10 * MINUTES },
  );
  const tarball = join(half, packed.stdout.trim().split('\n').at(-1)!);
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`;
  if (found !== integrity)
    throw new Error(`${name}@${version} has the hash ${found}, and the list says ${integrity}`);
  await run('tar', ['-xzf', tarball, '-C', half, '--strip-components', '1']);
  renameSync(half, own);
  return own;
}

/** Installs the second validators into a folder, which is not the project's. Returns it. */
export async function installTools({ tools }: DocumentList, folder: string): Promise<string> {
  const own = join(folder, 'tools');
  const expected = Object.entries(tools).map(([name, version]) => `${name}@${version}`);
  mkdirSync(own, { recursive: true });
  await run(
    'npm',
    [
      'install',
      '--prefix',
      own,
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      ...expected,
    ],
    { timeout: 10 * MINUTES, cwd: own },
  );
  return own;
}
