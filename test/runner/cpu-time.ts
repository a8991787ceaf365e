import { appendFileSync, readFileSync } from 'node:fs';

/** Clock ticks per second in `/proc`, on every Linux that Node supports. */
const TICKS = 100;

function cpuSeconds(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // The name of the program, in brackets, may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system, childUser, childSystem] = fields.slice(11, 15).map(Number) as [
    number,
    number,
    number,
    number,
  ];
  return (user + system + childUser + childSystem) / TICKS;
}

/**
 * Measures a suite if `npm run test:cost` has set a file for the measurements; one line of JSON per
 * suite.
 */
export function startCost(): { note(suite: string): void } {
  const file = process.env.STOREGATE_TEST_COST;
  if (file === undefined) return { note() {} };
  const cpu = cpuSeconds();
  const began = performance.now();
  return {
    note(suite) {
      const wall = (performance.now() - began) / 1000;
      appendFileSync(file, `${JSON.stringify({ suite, cpu: cpuSeconds() - cpu, wall })}\n`);
    },
  };
}
