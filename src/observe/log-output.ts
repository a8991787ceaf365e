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

type Failure = NodeJS.ErrnoException;

/**
 * Writes lines to a descriptor without ever waiting for it, except at the end of the process. Lines
 * that cannot be written wait; beyond `MAX_WAITING` new lines are dropped until half of the waiting
 * lines are written. Then `onGap` reports the dropped lines in their place.
 */
export class LogOutput {
  readonly #fd: number;
  readonly #batchSize: number;
  readonly #onGap: (gap: Gap) => void;
  readonly #batches: string[] = [];
  readonly #finish = () => this.close();
  /** Characters in `#batches`. */
  #waiting = 0;
  /** Of a batch that was written in part. */
  #remainder: Buffer | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Of the last write; `null`: it succeeded. There is no gap without it. */
  #failure: Failure | null = null;
  #failedAt = 0;
  #retryWait = RETRY.first;
  #gapLines = 0;
  #droppedLines = 0;
  #lastMoment: number | null = null;

  /** `batchSize`: characters that are written at once, except longer lines. */
  constructor(fd: number, batchSize: number, onGap: (gap: Gap) => void) {
    this.#fd = fd;
    this.#batchSize = batchSize;
    this.#onGap = onGap;
    process.on('exit', this.#finish);
  }

  /** Lines, since the start. */
  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(line: string): void {
    if (this.#isFull(line)) {
      this.#gapLines++;
      this.#droppedLines++;
      return;
    }
    const last = this.#batches.length - 1;
    if (
      last >= 0 &&
      this.#batches[last]!.length + line.length <= this.#batchSize
    )
      this.#batches[last] += line;
    else this.#batches.push(line);
    this.#waiting += line.length;
    if (this.#waiting >= this.#batchSize || this.#lastMoment !== null)
      this.flush();
    else
      this.#timer ??= setTimeout(() => this.#attempt(), LONGEST_WAIT).unref();
  }

  flush(): void {
    if (this.#lastMoment !== null) this.#finishUntil(this.#lastMoment);
    else if (this.#failure === null) this.#attempt();
  }

  /**
   * Waits a short time for a slow reader. Lines may be written later: they share that time. Nothing
   * is written between these calls, because the descriptor may then belong to another file.
   */
  close(): void {
    process.off('exit', this.#finish);
    this.#lastMoment ??= performance.now() + LAST_WAIT;
    this.#finishUntil(this.#lastMoment);
  }

  /** A log that works takes every line. */
  #isFull(line: string): boolean {
    if (this.#failure === null) return false;
    return this.#gapLines > 0 || this.#waiting + line.length > MAX_WAITING;
  }

  #finishUntil(moment: number): void {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    this.#attempt();
    while (this.#failure?.code === 'EAGAIN' && performance.now() < moment) {
      Atomics.wait(pause, 0, 0, LAST_RETRY);
      this.#attempt();
    }
  }

  #attempt(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const failure = this.#writeAll();
    if (failure !== null) this.#retryLater(failure);
    const gap = this.#gapToReport();
    this.#failure = failure;
    if (gap !== null) this.#onGap(gap);
  }

  #writeAll(): Failure | null {
    try {
      while (this.#remainder !== null || this.#batches.length > 0) {
        this.#remainder ??= this.#nextBatch();
        const bytes = writeSync(this.#fd, this.#remainder);
        this.#retryWait = RETRY.first;
        this.#remainder =
          bytes < this.#remainder.length
            ? this.#remainder.subarray(bytes)
            : null;
      }
      return null;
    } catch (error) {
      return error as Failure;
    }
  }

  #nextBatch(): Buffer {
    const batch = this.#batches.shift()!;
    this.#waiting -= batch.length;
    return Buffer.from(batch);
  }

  #retryLater(failure: Failure): void {
    if (this.#failure === null) this.#failedAt = performance.now();
    this.#failure = failure;
    if (this.#lastMoment !== null) return;
    this.#timer = setTimeout(() => this.#attempt(), this.#retryWait).unref();
    this.#retryWait = Math.min(this.#retryWait * 2, RETRY.longest);
  }

  #gapToReport(): Gap | null {
    if (this.#gapLines === 0 || this.#waiting > MAX_WAITING / 2) return null;
    const count = this.#gapLines;
    this.#gapLines = 0;
    const duration = roundMilliseconds(performance.now() - this.#failedAt)!;
    return { count, duration, reason: reasonOf(this.#failure!) };
  }
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
