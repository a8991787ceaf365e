import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { filesWith, nextVersion, ReleaseError, sectionOf } from './release/version.ts';

export interface ReleaseOptions {
  readonly root: string;
  /** `YYYY-MM-DD`. */
  readonly date: string;
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
  /** Rejects if the files, which have the new version already, must not be released. */
  readonly verify: () => Promise<void>;
  /** Writes the tarball to `dist`. */
  readonly pack: () => Promise<void>;
}

/**
 * Commits and tags `wanted`: minor, patch or a version. An error restores files, branch and tags.
 */
export async function release(
  expected: string,
  { root, date, dryRun, print, verify, pack }: ReleaseOptions,
) {
  const git = (...args: string[]) => runGit(root, args);
  const { version: current } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version = nextVersion(current, expected);
  const tag = `v${version}`;
  refuseUnlessReady(git, tag);
  const files = filesWith(version, date, root);
  const section = sectionOf(files.get('CHANGELOG.md')!, version);
  if (section === '') throw new ReleaseError('CHANGELOG.md has no text about this release.');
  const [tarball, notes] = [`dist/storegate-${version}.tgz`, 'dist/RELEASE-NOTES.md'];
  if (dryRun) {
    for (const file of files.keys()) print(`would set ${version} in ${file}`);
    print('would run `npm run check` and `npm test`');
    print(`would write ${tarball} and ${notes}`);
    print(`would commit the files and tag the commit ${tag}`);
    return;
  }

  const head = git('rev-parse', 'HEAD');
  try {
    for (const [file, text] of files) writeFileSync(join(root, file), text);
    await verify();
    await pack();
    writeFileSync(join(root, notes), notesOf(version, section, join(root, tarball)));
    git('commit', '--quiet', '--message', `release: publish ${version}`, '--', ...files.keys());
    git('tag', '--annotate', '--message', `storegate ${version}`, tag);
  } catch (error) {
    git('reset', '--quiet', '--soft', head);
    git('checkout', '--quiet', head, '--', ...files.keys());
    for (const file of [tarball, notes]) rmSync(join(root, file), { force: true });
    throw error;
  }
  print(`${tag} has ${tarball} and ${notes}. Push it: git push origin main ${tag}`);
}

function runGit(cwd: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new ReleaseError(`git ${args[0]} failed: ${stderr.trim()}`);
  return stdout.trim();
}

function refuseUnlessReady(git: (...args: string[]) => string, tag: string): void {
  const branch = git('rev-parse', '--abbrev-ref', 'HEAD');
  if (branch !== 'main') throw new ReleaseError(`The branch is ${branch}: switch to main.`);
  if (git('status', '--porcelain') !== '')
    throw new ReleaseError('The tree has changes: commit or remove them.');
  if (git('tag', '--list', tag) !== '')
    throw new ReleaseError(`${tag} exists: name a higher version.`);
}

function notesOf(version: string, section: string, tarball: string): string {
  const content = readFileSync(tarball);
  const digest = createHash('sha256').update(content).digest('hex');
  const file = `\`storegate-${version}.tgz\`: ${content.length} bytes, SHA-256 \`${digest}\``;
  return `# storegate ${version}\n\n${section}\n\n### Package\n\n${file}\n`;
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'dry-run': { type: 'boolean', default: false } },
  });
  const [expected, ...more] = positionals;
  if (expected === undefined || more.length > 0)
    throw new ReleaseError('Usage: npm run release -- minor|patch|X.Y.Z [--dry-run]');
  const root = resolve(import.meta.dirname, '..');
  const interrupt = new AbortController();
  // The running command is killed, and the files are restored.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => interrupt.abort());
  const run = async (command: string, ...args: string[]) => {
    const child = spawn(command, args, { cwd: root, stdio: 'inherit', signal: interrupt.signal });
    const [code] = await once(child, 'close');
    if (code !== 0) throw new ReleaseError(`${command} ${args.join(' ')} failed.`);
  };
  await release(expected, {
    root,
    date: new Date().toISOString().slice(0, 'YYYY-MM-DD'.length),
    dryRun: values['dry-run'],
    print: (line) => void process.stdout.write(`${line}\n`),
    verify: async () => {
      await run('npm', 'run', 'check');
      await run('npm', 'test');
    },
    pack: () => run('npm', 'run', '--silent', 'pack'),
  });
}

if (import.meta.main)
  main().catch((error: Error) => {
    process.exitCode = 1;
    process.stderr.write(`${error.message}\n`);
  });
