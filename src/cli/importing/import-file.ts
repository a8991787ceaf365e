import { createReadStream, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Api, CommandError } from '../connect/api.ts';
import type { Terminal } from '../terminal.ts';
import { type Format, formatOf, READERS } from './formats.ts';
import type { Defaults } from './key-fields.ts';
import { type ImportMany, type Mode, sendKeys, type Tally } from './passes.ts';
import type { Source } from './rows.ts';

export interface ImportOptions extends Defaults, Mode {
  readonly file: string;
  readonly format?: Format;
}

/** Without `skipBad`, all keys or none. Throws CommandError. */
export async function importFile(
  terminal: Terminal,
  api: Api,
  options: ImportOptions,
): Promise<Tally> {
  const {
    file,
    format = formatOf(file),
    dryRun = false,
    skipBad = false,
  } = options;
  const source = await sourceOf(terminal, file);
  const read = await READERS[format]();
  const importMany: ImportMany = (body) => api.call('importKeys', { body });
  const pass = (mode: Mode) =>
    sendKeys(importMany, read(source), options, mode);
  if (dryRun) return await pass({ dryRun });
  if (skipBad) return await pass({ skipBad });
  const checked = await pass({ dryRun: true });
  if (checked.bad > 0) return { ...checked, imported: 0 };
  return await pass({});
}

/** A file is read again for each pass. Input that can be read only once is kept in memory. */
async function sourceOf(
  { cwd, input }: Terminal,
  file: string,
): Promise<Source> {
  if (file === '-') return inMemory(Buffer.from(await input()));
  const path = resolve(cwd, file);
  try {
    if (!statSync(path).isFile()) return inMemory(await readFile(path));
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
  return () => inParts(path, file);
}

async function* inParts(
  path: string,
  file: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new CommandError(
      `Cannot read ${file}: ${(cause as NodeJS.ErrnoException).code}.`,
      {
        cause,
      },
    );
  }
}

function inMemory(bytes: Uint8Array): Source {
  return async function* parts() {
    yield bytes;
  };
}
