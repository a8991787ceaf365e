import { parseArgs } from 'node:util';
import { targets } from './targets/all.ts';
import { works } from './work.ts';

export interface Options {
  /** Minutes of the soak in place of the comparison. */
  readonly soak: number | null;
  readonly only: readonly string[];
  /** Of WORKS. */
  readonly works: readonly string[];
  /** A commit to compare with. */
  readonly before: string | null;
  readonly rounds: number;
  readonly connections: number;
  /** Whether the options leave nothing out. */
  readonly isWhole: boolean;
}

const TARGETS = targets.map(({ name }) => name);
const WORKS = [...works.map(({ name }) => name), 'latency', 'subjects'];

const USAGE = `npm run bench [-- options]

  (none)              compare everything that is installed, print the tables, update bench/RESULTS.md
  --only <a,b>        only these targets, and nginx beside them:
                      ${TARGETS.join(' ')}
  --work <a,b>        only these works: ${WORKS.join(' ')}
  --before <commit>   storegate as it was then, in turns with every storegate that is measured
  --soak <minutes>    a million keys at full speed; prints memory and CPU over time
  --rounds <n>        rounds of a second per target and work (5)
  --connections <n>   kept-alive connections of the load generator (64)
`;

/** Throws an Error with the usage. */
export function readArguments(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  try {
    const { only, work, before, soak, ...numbers } = parseArgs({
      args: [...args],
      options: {
        only: text,
        work: text,
        before: text,
        soak: text,
        rounds: { ...text, default: '5' },
        connections: { ...text, default: '64' },
      },
    }).values;
    return {
      only: names(only, TARGETS),
      works: names(work, WORKS),
      before: before ?? null,
      soak: soak === undefined ? null : positive(soak),
      rounds: positive(numbers.rounds),
      connections: positive(numbers.connections),
      isWhole: (only ?? work ?? before) === undefined,
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`, { cause: error });
  }
}

function names(list: string | undefined, existing: readonly string[]): readonly string[] {
  const chosen = list?.split(',') ?? existing;
  const unknown = chosen.filter((name) => !existing.includes(name));
  if (unknown.length > 0) throw new Error(`"${unknown.join()}" is unknown`);
  return chosen;
}

function positive(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) throw new Error(`"${text}" is not a whole number above 0`);
  return Number(text);
}
