import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Lock, tryLock } from '../../src/common/lock.ts';

/** Environment variable: the entry point of the processes that tests start. */
export const PROGRAM = 'STOREGATE_TEST_PROGRAM';

const root = resolve(import.meta.dirname, '../..');
/**
 * One for each checkout, as several may share the installed packages, or have copies of them. Not a
 * temporary one, because Node finds compiled modules by their path.
 */
const checkout = createHash('sha256').update(root).digest('hex').slice(0, 8);
const folder = join(root, `node_modules/.cache/storegate-bundled-${checkout}`);
const READ = ['config', 'node_modules', 'package.json', 'packages', 'plans.yaml', 'src'];
const SOURCES = ['src', 'packages', 'scripts/pack'];

/**
 * Tests start the modules that the package has, bundled from this checkout: to load one file in
 * place of hundreds, and a compiled admin contract, takes half the CPU. Returns the entry point.
 */
export async function bundleProgram(): Promise<string> {
  const target = join(folder, 'dist');
  const main = join(target, 'main.js');
  const version = join(folder, 'version');
  const current = versionOfSources();
  const isCurrent = () =>
    existsSync(main) && existsSync(version) && readFileSync(version, 'utf8') === current;
  if (isCurrent()) return main;
  mkdirSync(folder, { recursive: true });
  const lock = await locked(join(folder, 'lock'));
  try {
    if (isCurrent()) return main;
    const { bundle } = await import('../../scripts/pack/bundle.ts');
    for (const name of READ) {
      const link = join(folder, name);
      if (!existsSync(link)) symlinkSync(join(root, name), link);
    }
    await bundle(root, target);
    writeFileSync(version, current);
    return main;
  } finally {
    lock.release();
  }
}

/** Of runs that start at once, one bundles: a process of another could read half a file. */
async function locked(file: string): Promise<Lock> {
  for (;;) {
    const lock = tryLock(file);
    if (lock !== null) return lock;
    await pause(50);
  }
}

function versionOfSources(): string {
  const files = SOURCES.flatMap((name) =>
    readdirSync(join(root, name), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(root, name, file),
    ),
  );
  const hash = createHash('sha256');
  for (const file of [...files, join(root, 'package-lock.json')]) {
    const { mtimeMs, size } = statSync(file);
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest('hex');
}
