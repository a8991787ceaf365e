import { pace } from './pace.ts';
import { percentile, spread } from './statistics.ts';
import type { Started } from './surroundings.ts';
import type { Surroundings } from './targets/target.ts';
import { WrongAnswer } from './verify.ts';
import { type Request, requestOf, works } from './work.ts';

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

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

type Round = ReadonlyMap<string, Percentiles>;

/** Requests per second. */
export const PACE = 500;
const SECONDS = 2;
const ROUNDS = 3;
const MEASURED = ['nginx', 'nginx-lua-redis', 'storegate', 'storegate-redis', 'undici', 'usual'];

/** Takes medians of the rounds. Throws WrongAnswer. */
export async function addedLatency(
  started: readonly Started[],
  { backend, keys }: Surroundings,
  say: (line: string) => void,
): Promise<Latency[]> {
  const get = works.find(({ name }) => name === 'get')!;
  const asked = started.filter(({ target }) => MEASURED.includes(target.name));
  const requests = new Map([['direct', requestOf(get, backend.url, keys)]]);
  for (const { target, running } of asked)
    requests.set(target.name, requestOf(get, running.url, running.keys));
  say(`latency of ${asked.length} targets at ${PACE} requests/s`);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await timeAll(requests));
  return [...requests.keys()].map((target) => medians(target, rounds));
}

async function timeAll(requests: ReadonlyMap<string, Request>): Promise<Round> {
  const round = new Map<string, Percentiles>();
  for (const [name, request] of requests) {
    const times = await pace(request, { rate: PACE, seconds: SECONDS }).catch((error: Error) => {
      throw new WrongAnswer(`${name}, latency: ${error.message}`, { cause: error });
    });
    round.set(name, { p50: percentile(times, 0.5), p99: percentile(times, 0.99) });
  }
  return round;
}

function medians(target: string, rounds: readonly Round[]): Latency {
  const median = (read: (own: Percentiles, direct: Percentiles) => number) =>
    spread(rounds.map((round) => read(round.get(target)!, round.get('direct')!))).median;
  return {
    target,
    p50: median((own) => own.p50),
    p99: median((own) => own.p99),
    addedP50: median((own, direct) => own.p50 - direct.p50),
    addedP99: median((own, direct) => own.p99 - direct.p99),
  };
}
