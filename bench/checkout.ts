import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const project = new URL('../', import.meta.url).pathname;

/** Returns the folder and the commit's short name. */
export function checkOut(commit: string, parent: string): { folder: string; name: string } {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project, maxBuffer: 2 ** 30 });
  const name = git('rev-parse', '--short', '--verify', `${commit}^{commit}`).toString().trim();
  const folder = join(parent, `storegate-${name}`);
  mkdirSync(folder);
  execFileSync('tar', ['-x', '-C', folder], { input: git('archive', name) });
  if (sameText('package-lock.json', folder)) linkPackages(folder);
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
    if (name !== '@storegate' && name !== '.cache') symlinkSync(join(installed, name), join(modules, name));
  mkdirSync(join(modules, '@storegate'));
  for (const name of readdirSync(join(folder, 'packages')))
    symlinkSync(join(folder, 'packages', name), join(modules, '@storegate', name));
}

function sameText(file: string, folder: string): boolean {
  return readFileSync(join(project, file), 'utf8') === readFileSync(join(folder, file), 'utf8');
}
