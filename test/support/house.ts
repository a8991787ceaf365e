import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

export interface HouseRow {
  readonly folder: string;
  readonly lines: number;
  readonly text: string;
}

export function houseRows(): HouseRow[] {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const rows = page.matchAll(/^\| `((?:src|packages)\/[\w-]+\/)` \| ([\d ]+) \| (.*) \|$/gm);
  return [...rows].map(([, folder, lines, text]) => ({
    folder: folder!,
    lines: Number(lines!.replaceAll(' ', '')),
    text: text!,
  }));
}

/** Lines of TypeScript, JavaScript, CSS and Lua, without tests of packages. */
export function linesOf(folder: string): number {
  const place = join(ROOT, folder, folder.startsWith('packages/') ? 'src' : '.');
  const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|js|css|lua)$/.test(file),
  );
  return files.reduce((sum, file) => sum + readFileSync(join(place, file), 'utf8').split('\n').length - 1, 0);
}
