import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { MUTATIONS, type Mutation } from './mutations.ts';

/**
 * Makes each mistake in a copy of the last commit and runs its suite (`npm run test:mutations`). The
 * suite must pass unchanged, and a test of it must fail with the mistake. Arguments choose the
 * mutations whose file contains one of them.
 */
const root = resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'storegate-mutations-'));
const results = join(copy, 'results.json');

/** `null`: the suite does not run. */
function testsOf(suite: string): Map<string, 'passed' | 'failed'> | null {
  rmSync(results, { force: true });
  const arguments_ = ['--silent', '--json', `--outputFile=${results}`, suite];
  spawnSync('npm', ['test', '--', ...arguments_], { cwd: copy, stdio: 'ignore' });
  const { testResults } = JSON.parse(readFileSync(results, 'utf8'));
  const tests = new Map();
  for (const { name, assertionResults } of testResults) {
    if (assertionResults.length === 0) return null;
    for (const { fullName, status } of assertionResults) tests.set(`${name} ${fullName}`, status);
  }
  return tests.size > 0 ? tests : null;
}

const unchanged = new Map<string, string>();

/** Why the suite cannot judge a mutation, or an empty text. */
function faultOf(suite: string): string {
  let fault = unchanged.get(suite);
  if (fault === undefined) {
    const statuses = [...(testsOf(suite)?.values() ?? [])];
    fault = statuses.includes('failed') ? 'the suite fails unchanged' : '';
    if (!statuses.includes('passed')) fault = 'the suite does not run';
    unchanged.set(suite, fault);
  }
  return fault;
}

/** An empty text if a test fails because of the mistake. */
function problemOf({ file, text, replacement, suite }: Mutation): string {
  const fault = faultOf(suite);
  if (fault !== '') return fault;
  const path = join(copy, file);
  const code = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    code.replace(text, () => replacement),
  );
  try {
    const tests = testsOf(suite);
    if (tests === null) return 'the suite does not run with the mistake';
    return [...tests.values()].includes('failed') ? '' : 'no test fails';
  } finally {
    writeFileSync(path, code);
  }
}

function copyFiles(): void {
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', '--force', copy], { cwd: root });
  const modules = ['node_modules', join(copy, 'node_modules')];
  // Hard links, unless the copy is on another device.
  if (spawnSync('cp', ['-al', ...modules], { cwd: root, stdio: 'ignore' }).status !== 0)
    execFileSync('cp', ['-a', '--', ...modules], { cwd: root });
}

try {
  copyFiles();
  const chosen = process.argv.slice(2);
  for (const mutation of MUTATIONS) {
    const { file, suite } = mutation;
    if (chosen.length > 0 && !chosen.some((part) => file.includes(part))) continue;
    const problem = problemOf(mutation);
    console.log(`${problem === '' ? 'noticed    ' : 'NOT NOTICED'} ${file}  ${suite}  ${problem}`);
    if (problem !== '') process.exitCode = 1;
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
  execFileSync('git', ['worktree', 'prune'], { cwd: root });
}
