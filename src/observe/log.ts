import { maskSecrets } from '../common/secret-mask.ts';
import type { Config } from '../config/config.ts';
import type { Event, Observe } from './events.ts';
import {
  createLogOutput,
  type LogOutput,
  openStandardOutput,
} from './log-output.ts';
import { createLogTable } from './log-table.ts';
import { prettyLine } from './pretty.ts';
import { createRepeatedRefusals } from './repeated-refusals.ts';

export interface Log {
  readonly observe: Observe;
  /** Lines that could not be written, since the start. */
  readonly droppedLines: number;
  close(): void;
}

interface Destination extends Partial<Omit<LogOutput, 'write'>> {
  write(line: string): void;
  readonly isTTY?: boolean;
}

/**
 * Characters that wait for more. Pipes keep writes of 4096 bytes whole: lines of workers do not
 * mix.
 */
const BUFFERED = { alone: 16_384, worker: 2_048 };

/** The numbers that tools for JSON logs know. */
const LEVELS = {
  trace: 10,
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
  silent: Number.POSITIVE_INFINITY,
};

/**
 * Lines name keys by id; text that looks like a key is masked. `destination`: by default standard
 * output.
 */
export function createLog(
  {
    level,
    requests,
    format,
  }: Pick<Config['log'], 'level' | 'requests' | 'format'>,
  {
    destination,
    worker,
  }: { readonly destination?: Destination; readonly worker?: number } = {},
): Log {
  const target = destination ?? standardOutput();
  const shape = shapeOf(format, (destination ?? process.stdout).isTTY === true);
  const least = LEVELS[level];
  const table = createLogTable();
  const hasRequests = requests && LEVELS.info >= least;
  const refusals = createRepeatedRefusals(write);
  const timeNow = cachedTime();
  const ofWorker = worker === undefined ? '' : `,"worker":${worker}`;

  function write(event: Event, count?: number): void {
    const line = table[event.type](event);
    if (line === null || LEVELS[line.level] < least) return;
    const fields =
      typeof line.fields === 'string'
        ? line.fields
        : JSON.stringify(line.fields).slice(1, -1);
    const counted = count === undefined ? '' : `,"count":${count}`;
    const text = `{"level":${LEVELS[line.level]},"time":"${timeNow()}"${ofWorker}${fields && ','}${fields}${counted}`;
    const message =
      line.message === undefined
        ? `"${event.type}"`
        : JSON.stringify(line.message);
    // A row or an error message may hold a key by mistake.
    const whole = maskSecrets(`${text},"msg":${message}}\n`);
    target.write(shape(whole));
    if (event.type !== 'request') target.flush?.();
  }

  function observe(event: Event): void {
    if (event.type !== 'request') write(event);
    else if (hasRequests) refusals.take(event);
  }

  function standardOutput() {
    const most = worker === undefined ? BUFFERED.alone : BUFFERED.worker;
    return createLogOutput(openStandardOutput(), most, (gap) =>
      write({ type: 'log.dropped', ...gap }),
    );
  }

  return {
    observe,
    get droppedLines() {
      return target.droppedLines ?? 0;
    },
    close() {
      refusals.close();
      target.close?.();
    },
  };
}

function shapeOf(
  format: Config['log']['format'],
  isTerminal: boolean,
): (line: string) => string {
  if (format === 'json' || (format === 'auto' && !isTerminal))
    return (line) => line;
  const colour = isTerminal && !process.env.NO_COLOR;
  return (line) => prettyLine(line, colour);
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
