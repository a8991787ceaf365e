import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** By path: the text that a file should have. Some files keep a part of what they have. */
export type Files = Readonly<Record<string, (text: string) => string>>;

export function writeFiles(files: Files): void {
  for (const [path, textOf] of Object.entries(files)) {
    const file = join(import.meta.dirname, '..', path);
    writeFileSync(file, textOf(readFileSync(file, 'utf8')));
  }
}
