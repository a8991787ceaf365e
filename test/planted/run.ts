import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MISTAKES, type Mistake } from './mistakes.ts';

/**
 * Makes each mistake in a copy of the last commit and runs its suite, which must fail (`npm run
 * test:planted`). Arguments choose the mistakes whose file contains one of them.
 */
const root = resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'storegate-planted-'));
const chosen = process.argv.slice(2);

function isNoticed({ file, text, mistake, suite }: Mistake): boolean {
  const path = join(copy, file);
  const code = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    code.replace(text, () => mistake),
  );
  try {
    const jest = ['node_modules/jest/bin/jest.js', '--silent', '--bail', suite];
    const { status } = spawnSync(process.execPath, jest, { cwd: copy, stdio: 'ignore' });
    return status !== 0;
  } finally {
    writeFileSync(path, code);
  }
}

try {
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', '--force', copy], { cwd: root });
  execFileSync('cp', ['-a', join(root, 'node_modules'), join(copy, 'node_modules')]);
  for (const planted of MISTAKES) {
    if (chosen.length > 0 && !chosen.some((part) => planted.file.includes(part))) continue;
    const isRed = isNoticed(planted);
    console.log(`${isRed ? 'noticed    ' : 'NOT NOTICED'} ${planted.file}  ${planted.suite}`);
    if (!isRed) process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
  execFileSync('git', ['worktree', 'prune'], { cwd: root });
}
