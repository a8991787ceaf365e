import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Api, CommandError } from '../connect/api.ts';
import type { Terminal } from '../terminal.ts';
import type { Defaults } from './key-fields.ts';
import { type ImportMany, type Mode, sendKeys, type Tally } from './passes.ts';
import { rowsIn } from './rows.ts';

export interface ImportOptions extends Defaults, Mode {
  readonly file: string;
}

/** Without `skipBad`, all keys or none. Throws CommandError. */
export async function importFile(
  terminal: Terminal,
  api: Api,
  options: ImportOptions,
): Promise<Tally> {
  const { file, dryRun = false, skipBad = false } = options;
  const bytes = await read(terminal, file);
  const importMany: ImportMany = (body) => api.call('importKeys', { body });
  const pass = (mode: Mode) =>
    sendKeys(importMany, rowsIn(bytes), options, mode);
  if (dryRun) return await pass({ dryRun });
  if (skipBad) return await pass({ skipBad });
  const checked = await pass({ dryRun: true });
  if (checked.bad > 0) return { ...checked, imported: 0 };
  return await pass({});
}

async function read(
  { cwd, input }: Terminal,
  file: string,
): Promise<Uint8Array> {
  if (file === '-') return Buffer.from(await input());
  try {
    return await readFile(resolve(cwd, file));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const reason =
      code === 'ENOENT'
        ? 'it does not exist'
        : code === 'EISDIR'
          ? 'it is a folder'
          : code;
    throw new CommandError(`Cannot read ${file}: ${reason}.`, { cause });
  }
}
