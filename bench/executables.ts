import { execFileSync } from 'node:child_process';
import { debianPackages, type Executable, missingExecutable } from './targets/executable.ts';

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
