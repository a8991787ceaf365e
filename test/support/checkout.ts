import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

const project = resolve(import.meta.dirname, '../..');

/** The newest release before this commit, or else the commit before it; `null` without history. */
export function earlierVersion(): string | null {
  const git = (...args: string[]) => spawnSync('git', args, { cwd: project, encoding: 'utf8' });
  const release = git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1');
  const { status, stdout } =
    release.status === 0 ? release : git('rev-parse', '--verify', '--quiet', 'HEAD~1');
  return status === 0 ? stdout.trim() : null;
}

/** Returns the folder and the commit's short name. */
export function checkOut(commit: string, parent: string): { folder: string; name: string } {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: project, maxBuffer: 2 ** 30 });
  const name = git('rev-parse', '--short', '--verify', `${commit}^{commit}`).toString().trim();
  const folder = join(parent, `storegate-${name}`);
  mkdirSync(folder);
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', name) });
  if (installedBy(project) === installedBy(folder)) linkPackages(folder);
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  return { folder, name };
}

/** Older commits start with JavaScript. */
export function mainOf(folder: string): string {
  const main = join(folder, 'src/main.js');
  return existsSync(main) ? main : join(folder, 'src/main.ts');
}

/** Not the checkout's own workspaces. */
function linkPackages(folder: string): void {
  const [installed, modules] = [join(project, 'node_modules'), join(folder, 'node_modules')];
  mkdirSync(modules);
  for (const name of readdirSync(installed))
    if (name !== '@storegate' && name !== '.cache')
      symlinkSync(join(installed, name), join(modules, name));
  mkdirSync(join(modules, '@storegate'));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@storegate', name));
}

/** The packages in a lock file, without the versions of the project itself. */
function installedBy(folder: string): string {
  const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    packages: object;
  };
  return JSON.stringify(
    Object.entries(packages).filter(([place]) => place.includes('node_modules/')),
  );
}
