import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

export interface FolderRow {
  readonly folder: string;
  readonly text: string;
}

/** The rows of src and packages in the table of folders of ARCHITECTURE.md. */
export function folderRows(): FolderRow[] {
  const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
  const rows = page.matchAll(/^\| `((?:src|packages)\/[\w-]+\/)` \| (.*) \|$/gm);
  return [...rows].map(([, folder, text]) => ({ folder: folder!, text: text! }));
}
