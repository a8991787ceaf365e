import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { readVersion } from '../../common/version.ts';
import type { Config } from '../../config/config.ts';
import { loadConfig } from '../../config/load.ts';
import { Outage } from '../../errors/outage.ts';
import { shellUser } from '../../keys/operators/shell-user.ts';
import { folderSource } from '../../state/embedded/transfer/source.ts';
import { folderTarget } from '../../state/embedded/transfer/target.ts';
import { openRedisSource } from '../../state/redis/transfer/source.ts';
import { openRedisTarget } from '../../state/redis/transfer/target.ts';
import { checkFile, fileSource } from '../../state/transfer/file-source.ts';
import { createFile } from '../../state/transfer/file-target.ts';
import { type Source, type Target, TransferError, TYPES } from '../../state/transfer/records.ts';
import {
  MissingPlans,
  type TransferResult,
  transferState,
  writeFile,
} from '../../state/transfer/transfer.ts';
import { type OutputOptions, print } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { configuredPlace, type Place, placeOf, refuseSame } from './places.ts';
import { countsText, movedView, shortfall, warnOfLeftOut, warnOfMissing } from './report.ts';

type Given = string | { readonly file: string };

export interface CopyOptions extends OutputOptions {
  /** A place, or a file with any name; default: the configured state. */
  readonly from?: Given | undefined;
  readonly to?: Given | undefined;
  readonly dryRun?: boolean | undefined;
  readonly withoutBans?: boolean | undefined;
}

/** Throws an expected error that says what was changed before it. */
export async function copyState(terminal: Terminal, options: CopyOptions): Promise<void> {
  const config = loadConfig(terminal);
  const placeIn = (given: Given | undefined): Place => {
    if (given === undefined) return configuredPlace(config);
    if (typeof given === 'string') return placeOf(given, config, terminal.cwd);
    return { type: 'file', path: resolve(terminal.cwd, given.file) };
  };
  const [from, to] = [placeIn(options.from), placeIn(options.to)];
  refuseSame(from, to);
  try {
    const source = await openSource(terminal, from);
    try {
      if (to.type === 'file') await writeTo(terminal, source, to.path, options);
      else await takeInto(terminal, config, source, to, options);
    } finally {
      await source.close();
    }
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof Outage) {
    const { cause } = error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const rest = 'Run the same command again to complete the copy.';
    return new TransferError(`Redis failed: ${reason}. ${rest}`, { cause });
  }
  // SQLite and the file system: files and folders are replaced as a whole.
  const { code, syscall, message } = Object(error) as Partial<NodeJS.ErrnoException>;
  const isOfDisk = code === 'ERR_SQLITE_ERROR' || syscall !== undefined;
  if (isOfDisk)
    return new TransferError(`The disk failed: ${message}. Nothing was changed.`, { cause: error });
  return error;
}

async function openSource(terminal: Terminal, place: Place): Promise<Source> {
  if (place.type === 'redis') return openRedisSource(place.settings);
  if (place.type === 'folder') return folderSource(place.path, Date.now, damageTo(terminal));
  const size = statSync(place.path, { throwIfNoEntry: false })?.size ?? 0;
  return withProgress(terminal, 'checking', size, async (pass) =>
    fileSource(place.path, await checkFile(place.path, pass)),
  );
}

async function writeTo(
  terminal: Terminal,
  source: Source,
  path: string,
  options: CopyOptions,
): Promise<void> {
  if (options.dryRun)
    throw new TransferError('A dry run writes no file. Use a folder or a Redis as the target.');
  const header = { from: source.kind, storegate: readVersion(), at: new Date().toISOString() };
  const file = createFile(path, header);
  try {
    const { has, leftOut } = await withProgress(terminal, 'writing', await total(source), (pass) =>
      writeFile(options.withoutBans ? withoutBans(source) : source, file, pass),
    );
    warnOfLeftOut(terminal, leftOut);
    await print(
      terminal,
      options,
      { file: path, has },
      {
        text: ({ file, has }, page) => page.notes(`${file} has ${countsText(has)}.`),
      },
    );
    if (leftOut.count > 0)
      throw new TransferError(`${leftOut.count} records were left out. All others are in ${path}.`);
  } finally {
    file.close();
  }
}

function withoutBans(source: Source): Source {
  return {
    ...source,
    async *read() {
      for await (const batch of source.read()) if (batch.type !== 'ban') yield batch;
    },
  };
}

async function takeInto(
  terminal: Terminal,
  config: Config,
  source: Source,
  place: Exclude<Place, { type: 'file' }>,
  options: CopyOptions,
): Promise<void> {
  const { dryRun = false } = options;
  const missing = new MissingPlans(config.plans);
  const target = await openTarget(terminal, config, place, dryRun);
  let moved: TransferResult;
  try {
    moved = await withProgress(
      terminal,
      dryRun ? 'comparing' : 'moving',
      await total(source),
      (pass) =>
        transferState(source, target, {
          missing,
          pass,
          actor: shellUser(),
          requestId: randomUUID(),
          clock: Date.now,
          dryRun,
        }),
    );
  } finally {
    await target.close();
  }
  await print(terminal, options, { dryRun, ...moved }, movedView);
  warnOfLeftOut(terminal, moved.leftOut);
  warnOfMissing(terminal, missing);
  const short = shortfall(moved, dryRun);
  if (dryRun) terminal.err('Dry run: nothing was changed.\n');
  if (short !== null)
    throw new TransferError(
      dryRun ? `The copy would be incomplete: ${short}.` : `The copy is incomplete: ${short}.`,
    );
}

/** As a start does, a copy ignores the damaged end of a file, and reports it. */
function damageTo({ err }: Terminal): (damage: string) => void {
  return (damage) => err(`${damage}\n`);
}

async function openTarget(
  terminal: Terminal,
  { audit }: Config,
  place: Exclude<Place, { type: 'file' }>,
  dryRun: boolean,
): Promise<Target> {
  const damaged = damageTo(terminal);
  const options = { audit, dryRun, clock: Date.now, damaged };
  return place.type === 'redis'
    ? openRedisTarget(place.settings, options)
    : folderTarget(place.path, options);
}

async function total(source: Source): Promise<number> {
  const counts = await source.counts();
  return TYPES.reduce((sum, type) => sum + counts[type], 0);
}

/** Milliseconds. */
const SHOW_EVERY = 100;
const BAR_WIDTH = 30;

/**
 * Shows progress on a terminal; `size` may be exceeded. Throws TransferError when the user stops
 * it.
 */
async function withProgress<T>(
  { err, errIsTerminal, stop }: Terminal,
  title: string,
  size: number,
  work: (pass: (done: number) => void) => Promise<T>,
): Promise<T> {
  let shown = errIsTerminal ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  try {
    return await work((done) => {
      if (stop.aborted)
        throw new TransferError('stopped before the end; it can be done again from the start');
      const now = performance.now();
      if (now < shown + SHOW_EVERY) return;
      shown = now;
      const part = size === 0 ? 1 : Math.min(1, done / size);
      const bar = '#'.repeat(Math.round(part * BAR_WIDTH)).padEnd(BAR_WIDTH, '.');
      err(`\r\x1b[K${title} [${bar}] ${Math.floor(part * 100)} %`);
    });
  } finally {
    if (errIsTerminal) err('\r\x1b[K');
  }
}
