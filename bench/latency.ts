import { get, OK } from './connection.ts';
import { PacedClient, timesOf } from './pace.ts';
import { spread } from './statistics.ts';
import type { Surroundings } from './targets/target.ts';
import type { Started } from './verify.ts';
import { KEYS, PATH } from './work.ts';

/**
 * Milliseconds until the end of the response at an even pace, and the difference to the backend
 * alone.
 */
export interface Latency {
  readonly target: string;
  readonly p50: number;
  readonly p99: number;
  /** In the same round. */
  readonly addedP50: number;
  readonly addedP99: number;
}

/** Requests per second. */
export const PACE = 500;
const SECONDS = 2;
const ROUNDS = 3;
const MEASURED = ['nginx', 'nginx-lua-redis', 'storegate', 'storegate-redis', 'undici', 'usual'];

/** Enough at once to open the connections. */
const WARM_UP = { rate: 10_000, isOver: (sent: number) => sent === 20 };
const MEASURE = { rate: PACE, isOver: (sent: number) => sent === PACE * SECONDS };

/** Takes medians of the rounds; the backend alone is first. Throws on a wrong response. */
export async function addedLatency(
  started: readonly Started[],
  { backend }: Surroundings,
): Promise<Latency[]> {
  const measured = started.filter(({ target }) => MEASURED.includes(target.name));
  const direct = { target: { name: 'direct' }, running: backend };
  const request = get(PATH, KEYS.admitted);
  const all = [direct, ...measured].map(({ target, running }) => ({
    target: target.name,
    client: new PacedClient(running.port),
    rounds: [] as (readonly number[])[],
  }));
  console.error(`latency of ${measured.length} targets at ${PACE} requests/s`);
  for (let round = 0; round < ROUNDS; round++)
    for (const { target, client, rounds } of all) {
      await client.run(request, WARM_UP);
      const timed = await client.run(request, MEASURE);
      const wrong = timed.find(({ outcome }) => outcome !== OK);
      if (wrong) throw new Error(`${target}, latency: ${wrong.outcome}`);
      const { median, p99 } = timesOf(timed);
      rounds.push([median, p99]);
    }
  for (const { client } of all) client.close();
  const alone = all[0]!.rounds;
  return all.map(({ target, rounds }) => {
    const [p50, p99] = mediansOf(rounds);
    const added = rounds.map((times, round) => times.map((time, i) => time - alone[round]![i]!));
    const [addedP50, addedP99] = mediansOf(added);
    return { target, p50, p99, addedP50, addedP99 };
  });
}

function mediansOf(rounds: readonly (readonly number[])[]): [p50: number, p99: number] {
  const median = (i: number) => spread(rounds.map((times) => times[i]!)).median;
  return [median(0), median(1)];
}
