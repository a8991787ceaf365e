import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const folders = ['.', ...readdirSync(join(root, 'packages')).map((name) => join('packages', name))];

/** The external packages that src and the workspaces need at run time. */
export const DEPENDENCIES: ReadonlySet<string> = new Set(
  folders.flatMap(dependenciesOf).filter(isExternal),
);

function dependenciesOf(folder: string): string[] {
  const { dependencies = {} } = JSON.parse(
    readFileSync(join(root, folder, 'package.json'), 'utf8'),
  );
  return Object.keys(dependencies);
}

function isExternal(name: string): boolean {
  return !name.startsWith('@storegate/');
}
