import { readOptions } from './options.ts';
import { targets } from './targets/all.ts';
import { works } from './work.ts';

export type Options = ReturnType<typeof readArguments>;

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
export function readArguments(args: string[]) {
  try {
    // 0: the comparison in place of a soak.
    const initial = { only: null, work: null, before: null, soak: 0, rounds: 5, connections: 64 };
    const { only, work, ...options } = readOptions(initial, args);
    return {
      ...options,
      only: names(only, TARGETS),
      works: names(work, WORKS),
      /** Whether nothing is left out. */
      isWhole: only === null && work === null && options.before === null,
    };
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${USAGE}`, { cause: error });
  }
}

function names(list: string | null, existing: readonly string[]): readonly string[] {
  const chosen = list?.split(',') ?? existing;
  const unknown = chosen.filter((name) => !existing.includes(name));
  if (unknown.length > 0) throw new Error(`"${unknown.join()}" is unknown`);
  return chosen;
}
