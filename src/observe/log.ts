import { pino } from 'pino';
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

export interface Destination {
  write(line: string): void;
  readonly isTTY?: boolean;
}

export interface LogOptions {
  /** Default: standard output. */
  readonly destination?: Destination;
  readonly worker?: number;
}

/** Lines name keys by id; text that looks like a key is masked. */
export function createLog(
  { level, requests, format }: Config['log'],
  { destination = process.stdout, worker }: LogOptions = {},
): Log {
  const logger = pino(
    {
      ...{ level, base: worker === undefined ? null : { worker }, timestamp: timeOf() },
      // Every line passes here: a row or an error message may hold a key by mistake.
      hooks: { streamWrite: maskSecrets },
    },
    ...targetOf(format, destination),
  );

  const table = createLogTable();
  const hasRequests = requests && logger.isLevelEnabled('info');
  const refusals = new RepeatedRefusals(write);

  function write(event: Event, count = 1): void {
    const line = table[event.type](event);
    if (line === null) return;
    logger[line.level](count === 1 ? line.fields : { ...line.fields, count }, line.message ?? event.type);
  }

  function observe(event: Event): void {
    if (event.type !== 'request') write(event);
    else if (hasRequests) refusals.take(event);
  }

  return { observe, close: () => refusals.close() };
}

/** Standard output takes pino's own, faster path for JSON. */
function targetOf(format: Config['log']['format'], destination: Destination): Destination[] {
  const isTerminal = destination.isTTY === true;
  if (format === 'pretty' || (format === 'auto' && isTerminal)) {
    const colour = isTerminal && !process.env.NO_COLOR;
    return [{ write: (line) => void destination.write(prettyLine(line, colour)) }];
  }
  return destination === process.stdout ? [] : [destination];
}

/** The time in pino's format, cached per millisecond because formatting is costly. */
function timeOf(): () => string {
  let last = Number.NaN;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = `,"time":"${new Date(now).toISOString()}"`;
    }
    return text;
  };
}
