import sonicBoom from 'sonic-boom';
import { maskSecrets } from '../common/secret-mask.ts';
import type { Config } from '../config/config.ts';
import type { Event, Observe } from './events.ts';
import { createLogTable } from './log-table.ts';
import { prettyLine } from './pretty.ts';
import { RepeatedRefusals } from './repeated-refusals.ts';

export interface Log {
  readonly observe: Observe;
  close(): void;
}

interface Destination {
  write(line: string): void;
  readonly isTTY?: boolean;
  flush?(): void;
  close?(): void;
}

/** Characters that wait for more. Pipes keep writes of 4096 bytes whole: lines of workers do not mix. */
const BUFFERED = { alone: 16_384, worker: 2_048 };
/** Milliseconds that the line of a request waits for more. */
const LONGEST_WAIT = 10;

/** The numbers that tools for JSON logs know. */
const LEVELS = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60, silent: Number.POSITIVE_INFINITY };

/** Lines name keys by id; text that looks like a key is masked. `destination`: by default standard output. */
export function createLog(
  { level, requests, format }: Config['log'],
  { destination = process.stdout, worker }: { readonly destination?: Destination; readonly worker?: number } = {},
): Log {
  const target = targetOf(format, destination, worker);
  const least = LEVELS[level];
  const table = createLogTable();
  const hasRequests = requests && LEVELS.info >= least;
  const refusals = new RepeatedRefusals(write);
  const timeNow = cachedTime();
  const ofWorker = worker === undefined ? '' : `,"worker":${worker}`;

  function write(event: Event, count?: number): void {
    const line = table[event.type](event);
    if (line === null || LEVELS[line.level] < least) return;
    const fields = JSON.stringify(line.fields).slice(1, -1);
    const counted = count === undefined ? '' : `,"count":${count}`;
    const text = `{"level":${LEVELS[line.level]},"time":"${timeNow()}"${ofWorker}${fields && ','}${fields}${counted}`;
    // A row or an error message may hold a key by mistake.
    target.write(maskSecrets(`${text},"msg":${JSON.stringify(line.message ?? event.type)}}\n`));
    if (event.type !== 'request') target.flush?.();
  }

  function observe(event: Event): void {
    if (event.type !== 'request') write(event);
    else if (hasRequests) refusals.take(event);
  }

  return {
    observe,
    close() {
      refusals.close();
      target.close?.();
    },
  };
}

function targetOf(format: Config['log']['format'], destination: Destination, worker: number | undefined): Destination {
  const isTerminal = destination.isTTY === true;
  if (format === 'pretty' || (format === 'auto' && isTerminal)) {
    const colour = isTerminal && !process.env.NO_COLOR;
    return { write: (line) => void destination.write(prettyLine(line, colour)) };
  }
  if (destination !== process.stdout) return destination;
  return bufferedOutput(worker === undefined ? BUFFERED.alone : BUFFERED.worker);
}

/** Standard output. A process that is killed loses the last lines of requests. */
function bufferedOutput(most: number): Destination {
  const output = new sonicBoom.SonicBoom({ fd: 1, sync: true });
  let isOpen = true;
  let pending = '';
  let timer: NodeJS.Timeout | null = null;

  function flush(): void {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (isOpen && pending !== '') output.write(pending);
    pending = '';
  }

  output.on('error', (error: NodeJS.ErrnoException) => {
    // The gateway continues without its log.
    if (error.code !== 'EPIPE') throw error;
    isOpen = false;
  });
  process.on('exit', flush);
  return {
    write(line) {
      pending += line;
      if (pending.length >= most) flush();
      else timer ??= setTimeout(flush, LONGEST_WAIT).unref();
    },
    flush,
    close() {
      flush();
      process.off('exit', flush);
    },
  };
}

/** Cached per millisecond, because formatting is costly. */
function cachedTime(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
