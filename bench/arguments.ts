import { parseArgs } from 'node:util';
import { targets } from './targets/all.ts';
import { works } from './work.ts';

export interface Options {
  readonly mode: 'compare' | 'soak' | 'install' | 'help';
  readonly quick: boolean;
  /** `null` for all. */
  readonly only: readonly string[] | null;
  readonly works: readonly string[];
  /** A commit to compare with. */
  readonly before: string | null;
  readonly rounds: number;
  /** Seconds per round. */
  readonly seconds: number;
  readonly connections: number;
  readonly node: string;
  readonly soakMinutes: number;
}

export const usage = `npm run bench [-- options]

  (none)              compare everything that is installed, print the tables, update bench/RESULTS.md
  --quick             only storegate with embedded state against nginx, GET, in under a minute
  --only <a,b>        only these targets, and nginx beside them:
                      ${targets.map(({ name }) => name).join(' ')}
  --work <a,b>        only these works: ${works.map(({ name }) => name).join(' ')}
  --before <commit>   storegate as it was then, in turns with every storegate that is measured
  --soak <minutes>    a million keys at full speed; prints memory and CPU over time
  --node <path>       run storegate and the peers in JavaScript on another Node.js
  --rounds <n>        rounds per target and work (5)
  --seconds <n>       length of a round (1)
  --connections <n>   kept-alive connections of the load generator (64)
  --install           apt-get install what is missing, then stop
`;

export class UsageError extends Error {
  override name = 'UsageError';
}

/** Throws UsageError on invalid arguments. */
export function readArguments(args: readonly string[]): Options {
  const values = parse(args);
  return {
    mode: modeOf(values),
    quick: values.quick,
    only: values.quick
      ? ['storegate']
      : values.only === undefined
        ? null
        : names(values.only, targets, '--only'),
    works: values.quick
      ? ['get']
      : names(values.work ?? works.map(({ name }) => name).join(), works, '--work'),
    before: values.before ?? null,
    rounds: positive(values.rounds, '--rounds'),
    seconds: positive(values.seconds, '--seconds'),
    connections: positive(values.connections, '--connections'),
    node: values.node,
    soakMinutes: values.soak === undefined ? 0 : positive(values.soak, '--soak'),
  };
}

function parse(args: readonly string[]) {
  const flag = { type: 'boolean', default: false } as const;
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        quick: flag,
        install: flag,
        help: flag,
        only: text,
        work: text,
        before: text,
        soak: text,
        node: { type: 'string', default: process.execPath },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '1' },
        connections: { type: 'string', default: '64' },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError((error as Error).message, { cause: error });
  }
}

function modeOf(values: {
  help: boolean;
  install: boolean;
  soak?: string | undefined;
}): Options['mode'] {
  if (values.help) return 'help';
  if (values.install) return 'install';
  return values.soak === undefined ? 'compare' : 'soak';
}

function names(
  list: string,
  existing: readonly { readonly name: string }[],
  option: string,
): string[] {
  const chosen = list.split(',');
  for (const name of chosen) {
    if (existing.some((one) => one.name === name)) continue;
    throw new UsageError(
      `${option}: "${name}" is unknown; known: ${existing.map((one) => one.name).join(', ')}`,
    );
  }
  return chosen;
}

function positive(text: string, option: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text))
    throw new UsageError(`${option} takes a whole number above 0, not "${text}"`);
  return Number(text);
}
