import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** `dist`, or the folder given as argument. */
const folder = resolve(process.argv[2] ?? join(root, 'dist'));

/** The empty folder of the content of a package. */
export function packageFolder(name: string): string {
  const target = join(folder, name);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  return target;
}

/** Packs the content, and returns the path of the tarball. */
export function packTarball(target: string): string {
  const args = ['pack', '--silent', '--pack-destination', folder];
  const name = execFileSync('npm', args, { cwd: target, encoding: 'utf8' }).trim();
  return relative('', join(folder, name));
}

export function readJson(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, 'utf8'));
}

export function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
