import type { Child } from './children.ts';
import { Connection, get, OK } from './connection.ts';
import { cpuTime } from './cpu.ts';
import { spread } from './statistics.ts';
import { KEYS } from './work.ts';

/** `send` resolves with the number of its requests. */
export interface Series {
  readonly name: string;
  readonly pid: number;
  readonly send: () => Promise<number>;
}

const CONNECTIONS = 16;

/** Rounds of `requests` to a path of a gateway. */
export function seriesOf(
  name: string,
  { pid, port }: Child,
  path: string,
  requests: number,
): Series {
  const request = get(path, KEYS.admitted);
  const send = async () => {
    const connection = new Connection(port);
    for (let sent = 0; sent < requests / CONNECTIONS; sent++) {
      const outcome = await connection.ask(request);
      if (outcome !== OK) throw new Error(`${name}: ${outcome}`);
    }
    connection.close();
  };
  return {
    name,
    pid,
    async send() {
      await Promise.all(Array.from({ length: CONNECTIONS }, send));
      return requests;
    },
  };
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
