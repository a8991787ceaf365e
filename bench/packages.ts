import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { debianPackages, type Executable, missingExecutable } from './targets/executable.ts';

export function installPackages(): void {
  const folder = new URL('.', import.meta.url).pathname;
  const { dependencies } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8')) as {
    dependencies: object;
  };
  const isInstalled = (name: string) => existsSync(`${folder}node_modules/${name}`);
  if (Object.keys(dependencies).every(isInstalled)) return;
  console.log("Installing the peers' packages (npm ci in bench/) ...");
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: 'inherit',
  });
}

export function installExecutables(): void {
  const missing = (Object.keys(debianPackages) as Executable[]).filter(
    (name) => missingExecutable(name) !== null,
  );
  const packages = [
    ...missing.map((name) => debianPackages[name]),
    'libnginx-mod-http-lua',
    'lua-nginx-redis',
  ];
  execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...packages], {
    stdio: 'inherit',
  });
}
