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

/** Enough at once to open the connections. */
const WARM_UP = { rate: 10_000, isOver: (sent: number) => sent === 20 };
const MEASURE = { rate: PACE, isOver: (sent: number) => sent === PACE * SECONDS };

interface Asked {
  readonly client: PacedClient;
  readonly request: string;
}

/** Takes medians of the rounds. Throws WrongAnswer. */
export async function addedLatency(
  started: readonly Started[],
  { backend, keys }: Surroundings,
  say: (line: string) => void,
): Promise<Latency[]> {
  const requested = started.filter(({ target }) => MEASURED.includes(target.name));
  const all = new Map<string, Asked>();
  const add = (name: string, url: string, key: string) =>
    all.set(name, { client: new PacedClient(Number(new URL(url).port)), request: get(PATH, key) });
  add('direct', backend.url, keys.admitted);
  for (const { target, running } of requested) add(target.name, running.url, running.keys.admitted);
  say(`latency of ${requested.length} targets at ${PACE} requests/s`);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await timeAll(all));
  for (const { client } of all.values()) client.close();
  return [...all.keys()].map((target) => medians(target, rounds));
}

async function timeAll(requested: ReadonlyMap<string, Asked>): Promise<Round> {
  const round = new Map<string, Percentiles>();
  for (const [name, { client, request }] of requested) {
    await client.run(request, WARM_UP);
    const timed = await client.run(request, MEASURE);
    const wrong = timed.find(({ outcome }) => outcome !== OK);
    if (wrong) throw new WrongAnswer(`${name}, latency: ${wrong.outcome}`);
    const [p50, p99] = summary(timed);
    round.set(name, { p50, p99 });
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
