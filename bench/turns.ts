import { cpuTime } from './cpu.ts';
import { spread } from './statistics.ts';

/** `send` resolves with the number of its requests. */
export interface Series {
  readonly name: string;
  readonly pid: number;
  readonly send: () => Promise<number>;
}

/** Prints microseconds of CPU per request: the median of rounds in turns, after a warm-up. */
export async function compareInTurns(all: readonly Series[], rounds: number): Promise<void> {
  const costs = all.map((): number[] => []);
  for (let round = 0; round <= rounds; round++)
    for (const [i, { pid, send }] of all.entries()) {
      const before = cpuTime(pid);
      const requests = await send();
      if (round > 0) costs[i]!.push((cpuTime(pid) - before) / requests);
    }
  for (const [i, { name }] of all.entries()) {
    const { median, min, max } = spread(costs[i]!);
    console.log(`${name}: ${median.toFixed(1)} µs (${min.toFixed(1)} to ${max.toFixed(1)})`);
  }
}
