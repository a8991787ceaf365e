import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { syncFolder } from '../../common/folder.ts';
import { type Batch, noCounts, type Target, TransferError } from './form.ts';

/**
 * A state file is UTF-8 text with one JSON object per line, each ended by a line feed:
 *
 *     {"type":"header","format":"storegate-state","version":3,"at":"2026-11-21T20:00:00.000Z","from":"embedded","storegate":"0.1.0"}
 *     {"type":"key","id":"key_…",…}
 *     …
 *     {"type":"trailer","counts":{"key":1,"token":0,…},"sha256":"…"}
 *
 * Records are ordered by type: `key`, `token`, `audit`, `ban`, `counters`, `use`, `usage`. The
 * trailer has their counts, and the SHA-256 of all bytes before its line in hexadecimal. `form.ts`
 * has the fields.
 */
export const FORMAT = 'storegate-state';
/** Increases with every incompatible change. */
export const FORMAT_VERSION = 3;
/** Maximum bytes of a line. The longest is a sum of usage. */
export const MAX_LINE = 1 << 26;

const CHUNK = 1024 * 1024;

/**
 * Writes a file for its owner only, under a temporary name until it is complete. Throws
 * TransferError if the name exists or writing fails.
 */
export function fileTarget(
  file: string,
  header: Readonly<Record<'from' | 'storegate' | 'at', string>>,
): Target {
  rejectExisting(file);
  const beside = `${file}.${randomUUID()}.part`;
  const descriptor = orReported(file, () => openSync(beside, 'wx', 0o600));
  const digest = createHash('sha256');
  const counts = noCounts();
  let text = '';
  let isOpen = true;

  function write() {
    const bytes = Buffer.from(text);
    text = '';
    digest.update(bytes);
    orReported(file, () => writeFileSync(descriptor, bytes));
  }

  function append(line: object) {
    const added = JSON.stringify(line);
    if (added.length > MAX_LINE)
      throw new TransferError(
        `${file}: a record is longer than ${MAX_LINE} bytes. Copy the state to a folder or a Redis instead.`,
      );
    text += `${added}\n`;
    if (text.length >= CHUNK) write();
  }

  function close() {
    if (!isOpen) return;
    isOpen = false;
    closeSync(descriptor);
    rmSync(beside, { force: true });
  }

  append({
    type: 'header',
    format: FORMAT,
    version: FORMAT_VERSION,
    ...header,
  });
  return {
    name: file,
    isState: false,
    counts: () => counts,
    hasUsageOfKeys: () => false,
    add({ type, values }: Batch) {
      for (const value of values) append({ type, ...value });
      counts[type] += values.length;
    },
    /** Syncs the file before it gets its name. */
    async finish() {
      write();
      append({ type: 'trailer', counts, sha256: digest.copy().digest('hex') });
      write();
      orReported(file, () => {
        fsyncSync(descriptor);
        place(beside, file);
      });
      close();
      await syncFolder(dirname(file));
    },
    close,
  };
}

/** Never replaces a file that was created meanwhile. */
function place(beside: string, file: string): void {
  try {
    linkSync(beside, file);
  } catch (error) {
    if (
      !['EPERM', 'ENOTSUP', 'ENOSYS'].includes(
        (error as NodeJS.ErrnoException).code ?? '',
      )
    )
      throw error;
    rejectExisting(file);
    renameSync(beside, file);
  }
}

function rejectExisting(file: string): void {
  if (existsSync(file))
    throw new TransferError(
      `${file} is there already: name another file, or remove it first`,
    );
}

function orReported<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof TransferError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') rejectExisting(file);
    const reason = code === 'ENOENT' ? 'the folder does not exist' : message;
    throw new TransferError(`cannot write ${file}: ${reason}`, {
      cause: error,
    });
  }
}
