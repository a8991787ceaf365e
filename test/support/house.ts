import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { tokensIn } from '../../scripts/tokens.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface HouseRow {
  readonly folder: string;
  readonly tokens: number;
  readonly text: string;
}

export function houseRows(): HouseRow[] {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const rows = page.matchAll(/^\| `((?:src|packages)\/[\w-]+\/)` \| ([\d ]+) \| (.*) \|$/gm);
  return [...rows].map(([, folder, tokens, text]) => ({
    folder: folder!,
    tokens: Number(tokens!.replaceAll(' ', '')),
    text: text!,
  }));
}

/**
 * Tokens of TypeScript, JavaScript, CSS and Lua, without comments, and without tests of packages.
 */
export function tokensOf(folder: string): number {
  const place = join(ROOT, folder, folder.startsWith('packages/') ? 'src' : '.');
  const files = readdirSync(place, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.(ts|js|css|lua)$/.test(file),
  );
  const textOf = (file: string) => {
    const text = readFileSync(join(place, file), 'utf8');
    return file.endsWith('.lua') ? text.replace(/--[^\n]*/g, '') : text;
  };
  return files.reduce((sum, file) => sum + tokensIn(textOf(file)), 0);
}
