import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { plural } from '@storegate/admin-api/text';
import { Outage } from '../../common/errors/outage.ts';
import { readVersion } from '../../common/version.ts';
import type { Config } from '../../config/config.ts';
import { loadSections } from '../../config/load.ts';
import { UnusableSection } from '../../config/problems/problems.ts';
import type { KeyRecord } from '../../records/keys/key.ts';
import { shellUser } from '../../records/operators/shell-user.ts';
import { fileSource } from '../../records/transfer/file-reader.ts';
import { fileTarget } from '../../records/transfer/file-writer.ts';
import { folderSource, folderTarget } from '../../records/transfer/folder.ts';
import {
  type Source,
  type Target,
  TransferError,
  TYPES,
} from '../../records/transfer/form.ts';
import {
  type MoveResult,
  missingRecords,
  moveState,
  TYPE_NAMES,
} from '../../records/transfer/move.ts';
import {
  openRedisSource,
  openRedisTarget,
} from '../../records/transfer/redis.ts';
import { type OutputOptions, print, type View } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { missingPlans } from './missing-plans.ts';
import { configuredPlace, type Place, placeOf, refuseSame } from './places.ts';

type Given = string | { readonly file: string };

export interface CopyOptions extends OutputOptions {
  /** A place, or a file with any name; default: the configured state. */
  readonly from?: Given | undefined;
  readonly to?: Given | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Throws an expected error that states what was changed before it. */
export async function copyState(
  terminal: Terminal,
  options: CopyOptions,
): Promise<void> {
  const config = loadSections(terminal);
  const { dryRun = false } = options;
  const placeIn = (given: Given | undefined): Place => {
    if (given === undefined) return configuredPlace(config);
    if (typeof given === 'string') return placeOf(given, config, terminal.cwd);
    return { type: 'file', path: resolve(terminal.cwd, given.file) };
  };
  const [from, to] = [placeIn(options.from), placeIn(options.to)];
  refuseSame(from, to);
  if (dryRun && to.type === 'file')
    throw new TransferError(
      'A dry run writes no file. Use a folder or a Redis as the target.',
    );
  // A file takes keys of any plan, so a backup does not read the plans.
  const missing = to.type === 'file' ? null : missingPlans(config.plans);
  const exports = exportsUsage(config);
  const onKey = (key: KeyRecord) => missing?.note(key);
  const done = await orExplained(() =>
    copy(terminal, from, to, { exports, dryRun, onKey }),
  );
  print(terminal, options, { dryRun, ...done }, copiedView);
  for (const sentence of done.leftOut.first)
    terminal.err(`left out: ${sentence}\n`);
  const more = done.leftOut.count - done.leftOut.first.length;
  if (more > 0) terminal.err(`left out: ${more} more\n`);
  missing?.warn(terminal);
  if (done.replaced > 0) terminal.err(replacedText(done));
  if (done.unexported > 0) terminal.err(unexportedText(done));
  if (dryRun) terminal.err('Dry run: nothing was changed.\n');
  rejectShortfall(done, dryRun);
}

/** A copy needs no valid settings of usage: with a mistake there, it may be exported. */
function exportsUsage(config: Config): boolean {
  try {
    return config.usage.export.url !== null;
  } catch (error) {
    if (error instanceof UnusableSection) return true;
    throw error;
  }
}

interface Copied extends MoveResult {
  readonly source: string;
  readonly target: string;
}

interface Wanted {
  readonly exports: boolean;
  readonly dryRun: boolean;
  readonly onKey: (key: KeyRecord) => void;
}

async function copy(
  terminal: Terminal,
  from: Place,
  to: Place,
  { exports, dryRun, onKey }: Wanted,
): Promise<Copied> {
  const source = await openSource(terminal, from);
  try {
    const target = await openTarget(terminal, source, to, dryRun);
    const title = dryRun ? 'reading' : 'moving';
    const counts = await source.counts();
    const size = TYPES.reduce((sum, type) => sum + counts[type], 0);
    const by = { at: Date.now(), actor: shellUser(), requestId: randomUUID() };
    const move = (pass: Pass) =>
      moveState(source, target, {
        by,
        dryRun,
        exports,
        onBatch({ type, values }, read) {
          if (type === 'key') (values as KeyRecord[]).forEach(onKey);
          pass(read);
        },
      });
    try {
      const moved = await withProgress(terminal, title, size, move);
      return { source: source.name, target: target.name, ...moved };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function openSource(terminal: Terminal, place: Place): Promise<Source> {
  if (place.type === 'redis') return openRedisSource(place.settings);
  if (place.type === 'folder')
    return folderSource(place.path, folderOptions(terminal));
  const size = statSync(place.path, { throwIfNoEntry: false })?.size ?? 0;
  return withProgress(terminal, 'checking', size, (pass) =>
    fileSource(place.path, pass),
  );
}

async function openTarget(
  terminal: Terminal,
  { kind }: Source,
  place: Place,
  dryRun: boolean,
): Promise<Target> {
  if (place.type === 'redis')
    return openRedisTarget(place.settings, { dryRun });
  if (place.type === 'folder')
    return folderTarget(place.path, { ...folderOptions(terminal), dryRun });
  const header = {
    from: kind,
    storegate: readVersion(),
    at: new Date().toISOString(),
  };
  return fileTarget(place.path, header);
}

/** As a start does, a copy ignores the damaged end of a file, and reports it. */
function folderOptions({ err }: Terminal) {
  return { clock: Date.now, damaged: (damage: string) => err(`${damage}\n`) };
}

function replacedText({ target, replaced }: Copied): string {
  return `${target} had usage of requests without a valid key (${plural(replaced, 'block')}): an import replaces it.\n`;
}

function unexportedText({ unexported, source, target }: Copied): string {
  const minutes = plural(unexported, 'minute');
  return `Usage of ${minutes} that waits for usage.export stays in ${source}: no gateway exports it from ${target}.\n`;
}

const copiedView: View<Copied & { readonly dryRun: boolean }> = (
  { source, target, dryRun, given, has },
  page,
) => {
  const [name, counts] = dryRun ? [source, given] : [target, has];
  const content = TYPES.map((type) => `${counts[type]} ${TYPE_NAMES[type]}`);
  return page.notes(`${name} has ${content.join(', ')}.`);
};

function rejectShortfall(done: Copied, dryRun: boolean): void {
  const { count } = done.leftOut;
  const missing = Object.entries(dryRun ? {} : missingRecords(done));
  const short = missing.map(
    ([type, n]) => `${n} ${TYPE_NAMES[type as keyof typeof TYPE_NAMES]}`,
  );
  const reasons = [
    ...(count > 0
      ? [`${count} records ${dryRun ? 'would be' : 'were'} left out`]
      : []),
    ...(short.length > 0 ? [`${done.target} lacks ${short.join(', ')}`] : []),
  ];
  if (reasons.length > 0)
    throw new TransferError(`Incomplete: ${reasons.join('; ')}.`);
}

async function orExplained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw explained(error);
  }
}

function explained(error: unknown): unknown {
  if (error instanceof Outage) {
    const { cause } = error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const rest = 'Run the same command again: it starts over.';
    return new TransferError(`Redis failed: ${reason}. ${rest}`, { cause });
  }
  // SQLite and the file system: files and folders are replaced as a whole.
  const { code, syscall, message } = Object(
    error,
  ) as Partial<NodeJS.ErrnoException>;
  const isOfDisk = code === 'ERR_SQLITE_ERROR' || syscall !== undefined;
  if (isOfDisk)
    return new TransferError(
      `The disk failed: ${message}. Nothing was changed.`,
      { cause: error },
    );
  return error;
}

/** Milliseconds. */
const SHOW_EVERY = 100;
const BAR_WIDTH = 30;

type Pass = (done: number) => void;

/**
 * Shows progress on a terminal; `size` may be exceeded. Throws TransferError when the user stops
 * it.
 */
async function withProgress<T>(
  { err, errIsTerminal, stop }: Terminal,
  title: string,
  size: number,
  work: (pass: Pass) => Promise<T>,
): Promise<T> {
  let shown = errIsTerminal
    ? Number.NEGATIVE_INFINITY
    : Number.POSITIVE_INFINITY;
  try {
    return await work((done) => {
      if (stop.aborted)
        throw new TransferError('Stopped before the end: run it again.');
      const now = performance.now();
      if (now < shown + SHOW_EVERY) return;
      shown = now;
      const part = size === 0 ? 1 : Math.min(1, done / size);
      const bar = '#'
        .repeat(Math.round(part * BAR_WIDTH))
        .padEnd(BAR_WIDTH, '.');
      err(`\r\x1b[K${title} [${bar}] ${Math.floor(part * 100)} %`);
    });
  } finally {
    if (errIsTerminal) err('\r\x1b[K');
  }
}
