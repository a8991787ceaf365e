import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { roundMilliseconds } from '../common/time.ts';

/** Characters of lines that wait while they cannot be written. More lines are dropped. */
export const MAX_WAITING = 1_048_576;

/** Milliseconds that the line of a request waits for more lines. */
const LONGEST_WAIT = 10;

/** Milliseconds until a failed write is repeated, doubled each time. */
const RETRY = { first: 1, longest: 100 };

/** Milliseconds that a process which ends waits for a slow reader, in all. */
const LAST_WAIT = 500;
const LAST_RETRY = 10;

export interface Gap {
  readonly count: number;
  readonly duration: number;
  readonly reason: string;
}

export type LogOutput = ReturnType<typeof createLogOutput>;

type Failure = NodeJS.ErrnoException;

/**
 * Writes lines to a descriptor without ever waiting for it, except at the end of the process. Lines
 * that cannot be written wait; beyond `MAX_WAITING` new lines are dropped until half of the waiting
 * lines are written. Then `onGap` reports the dropped lines in their place.
 *
 * @param batchSize characters that are written at once, except longer lines
 */
export function createLogOutput(
  fd: number,
  batchSize: number,
  onGap: (gap: Gap) => void,
) {
  const batches: string[] = [];
  /** Characters in `batches`. */
  let waiting = 0;
  /** From a batch that was written in part. */
  let remainder: Buffer | null = null;
  let timer: NodeJS.Timeout | null = null;
  /** The error of the last write; `null`: it succeeded, and no line is missing. */
  let failure: Failure | null = null;
  let failedAt = 0;
  let retryWait = RETRY.first;
  let gapLines = 0;
  let droppedLines = 0;
  let lastMoment: number | null = null;

  function write(line: string): void {
    if (isFull(line)) {
      gapLines++;
      droppedLines++;
      return;
    }
    const last = batches.length - 1;
    if (last >= 0 && batches[last]!.length + line.length <= batchSize)
      batches[last] += line;
    else batches.push(line);
    waiting += line.length;
    if (waiting >= batchSize || lastMoment !== null) flush();
    else timer ??= setTimeout(attempt, LONGEST_WAIT).unref();
  }

  function flush(): void {
    if (lastMoment !== null) finishUntil(lastMoment);
    else if (failure === null) attempt();
  }

  /**
   * Waits a short time for a slow reader. Lines may be written later: they share that time. Nothing
   * is written between these calls, because the descriptor may then belong to another file.
   */
  function close(): void {
    process.off('exit', close);
    lastMoment ??= performance.now() + LAST_WAIT;
    finishUntil(lastMoment);
  }

  /** A log that works takes every line. */
  function isFull(line: string): boolean {
    if (failure === null) return false;
    return gapLines > 0 || waiting + line.length > MAX_WAITING;
  }

  function finishUntil(moment: number): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    attempt();
    while (failure?.code === 'EAGAIN' && performance.now() < moment) {
      Atomics.wait(pause, 0, 0, LAST_RETRY);
      attempt();
    }
  }

  function attempt(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    const latest = writeAll();
    if (latest !== null) retryLater(latest);
    const gap = gapToReport();
    failure = latest;
    if (gap !== null) onGap(gap);
  }

  function writeAll(): Failure | null {
    try {
      while (remainder !== null || batches.length > 0) {
        remainder ??= nextBatch();
        const bytes = writeSync(fd, remainder);
        retryWait = RETRY.first;
        remainder = bytes < remainder.length ? remainder.subarray(bytes) : null;
      }
      return null;
    } catch (error) {
      return error as Failure;
    }
  }

  function nextBatch(): Buffer {
    const batch = batches.shift()!;
    waiting -= batch.length;
    return Buffer.from(batch);
  }

  function retryLater(latest: Failure): void {
    if (failure === null) failedAt = performance.now();
    failure = latest;
    if (lastMoment !== null) return;
    timer = setTimeout(attempt, retryWait).unref();
    retryWait = Math.min(retryWait * 2, RETRY.longest);
  }

  function gapToReport(): Gap | null {
    if (gapLines === 0 || waiting > MAX_WAITING / 2) return null;
    const count = gapLines;
    gapLines = 0;
    const duration = roundMilliseconds(performance.now() - failedAt)!;
    return { count, duration, reason: reasonOf(failure!) };
  }

  process.on('exit', close);
  return {
    write,
    flush,
    close,
    /** Lines, since the start. */
    get droppedLines() {
      return droppedLines;
    },
  };
}

function reasonOf({ code, message }: Failure): string {
  return code === 'EAGAIN' ? 'the reader of the log is too slow' : message;
}

/**
 * A descriptor of standard output whose writes fail rather than wait. A pipe or terminal is opened
 * again, because other processes may make the shared one wait. If the system does not allow that,
 * the shared one is the only choice: Node makes it not wait when `process.stdout` is used, unless
 * it is a terminal.
 */
export function openStandardOutput(): number {
  const status = fstatSync(1);
  if (status.isFile() || status.isSocket()) return 1;
  try {
    return openSync(
      '/proc/self/fd/1',
      constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  } catch {
    return 1;
  }
}
