import { get, OK } from './connection.ts';
import { PacedClient, summary } from './pace.ts';
import { spread } from './statistics.ts';
import type { Started } from './surroundings.ts';
import type { Surroundings } from './targets/target.ts';
import { WrongAnswer } from './verify.ts';
import { PATH } from './work.ts';

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

/** Takes medians of the rounds; the backend alone is first. Throws WrongAnswer. */
export async function addedLatency(
  started: readonly Started[],
  { backend, keys }: Surroundings,
): Promise<Latency[]> {
  const measured = started.filter(({ target }) => MEASURED.includes(target.name));
  const direct = { target: { name: 'direct' }, running: { ...backend, keys } };
  const all = [direct, ...measured].map(({ target, running }) => ({
    target: target.name,
    client: new PacedClient(Number(new URL(running.url).port)),
    request: get(PATH, running.keys.admitted),
    rounds: [] as (readonly [p50: number, p99: number])[],
  }));
  console.error(`latency of ${measured.length} targets at ${PACE} requests/s`);
  for (let round = 0; round < ROUNDS; round++)
    for (const { target, client, request, rounds } of all) {
      await client.run(request, WARM_UP);
      const timed = await client.run(request, MEASURE);
      const wrong = timed.find(({ outcome }) => outcome !== OK);
      if (wrong) throw new WrongAnswer(`${target}, latency: ${wrong.outcome}`);
      const [p50, p99] = summary(timed);
      rounds.push([p50, p99]);
    }
  for (const { client } of all) client.close();
  return all.map(({ target, rounds }) => {
    const median = (read: (round: number, i: 0 | 1) => number, i: 0 | 1) =>
      spread(rounds.map((_, round) => read(round, i))).median;
    const own = (round: number, i: 0 | 1) => rounds[round]![i];
    const added = (round: number, i: 0 | 1) => own(round, i) - all[0]!.rounds[round]![i];
    return {
      target,
      p50: median(own, 0),
      p99: median(own, 1),
      addedP50: median(added, 0),
      addedP99: median(added, 1),
    };
  });
}
