import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

export const debianPackages = {
  wrk: 'wrk',
  nginx: 'nginx',
  'redis-server': 'redis-server',
  haproxy: 'haproxy',
  caddy: 'caddy',
} as const;

export type Executable = keyof typeof debianPackages;

/** `null` if it is on the path, else how to install it. */
export function missingExecutable(name: Executable): string | null {
  return isOnPath(name) ? null : `${name} is missing (apt-get install ${debianPackages[name]})`;
}

function isOnPath(name: string): boolean {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
