import type { Options } from './arguments.ts';
import { addedLatency, type Latency } from './latency.ts';
import { describeMachine, type Machine } from './machine.ts';
import { type MeasureOptions, measure, type Sample, type Subject } from './measure.ts';
import { type Plan, planOf } from './plan.ts';
import { type Spread, spread } from './statistics.ts';
import { measureSubjects, type SubjectFigures } from './subjects.ts';
import { type Started, startAll, withSurroundings } from './surroundings.ts';
import { storegate } from './targets/storegate.ts';
import type { Surroundings } from './targets/target.ts';
import { prepare } from './verify.ts';
import { type Work, works } from './work.ts';

/** All figures of one run. CPU times are microseconds per request. */
export interface Comparison {
  readonly machine: Machine;
  /** Nothing was left out on purpose. */
  readonly whole: boolean;
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
  readonly results: readonly Result[];
  /** Empty in a quick run. */
  readonly latencies: readonly Latency[];
  readonly subjects: SubjectFigures | null;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export interface Result {
  readonly target: string;
  readonly title: string;
  readonly work: Work['name'];
  readonly cpu: Spread;
  readonly redisCpu: Spread;
  readonly backendCpu: Spread;
  readonly decisions: number;
  readonly requestsPerSecond: Spread;
}

/** Load of an idle machine is below this. */
const BUSY = 0.5;
/** V8 still compiles, on other threads of the process, after some ten thousand requests; slow targets take longer to get there. */
const WARM_UP_REQUESTS = 40_000;
const WARM_UP_ROUNDS = 6;

export function compare(options: Options, say: (line: string) => void): Promise<Comparison> {
  return withSurroundings(options.node, async (surroundings) => {
    const plan = planOf(options);
    const skipped: { name: string; reason: string }[] = [];
    const started = await startAll([...plan.keys()], surroundings, ({ name }, reason) => {
      skipped.push({ name, reason });
      say(`skipped ${name}: ${reason}`);
    });
    const names = started.map(({ target }) => target.name);
    const machine = describeMachine(options.node, names);
    if (machine.loadBefore > BUSY)
      say(`the machine is busy with something else (load ${machine.loadBefore}): take care`);
    const results = await measureAll(plan, started, surroundings, options, say);
    const latencies = options.quick ? [] : await addedLatency(started, surroundings, say);
    const counted = !options.quick && names.includes(storegate.name);
    const subjects = counted ? await measureSubjects(options.node, say) : null;
    const { rounds, seconds, connections } = options;
    const whole = options.only === null && options.works.length === works.length;
    return { machine, whole, rounds, seconds, connections, results, latencies, subjects, skipped };
  });
}

/** Every target is checked and warmed up first; then the rounds go around all of them, so that all share the same weather. */
async function measureAll(
  plan: Plan,
  started: readonly Started[],
  { children, backend, redis }: Surroundings,
  options: Options,
  say: (line: string) => void,
): Promise<Result[]> {
  const subjects = started.flatMap(({ target, running }) =>
    plan.get(target)!.map((work) => ({ target, running, work, samples: [] as Sample[] })),
  );
  const settings = {
    seconds: options.seconds,
    connections: options.connections,
    folder: children.folder,
    backend,
    redis,
  };
  say(`${subjects.length} measurements, ${options.rounds} rounds of ${options.seconds} s`);
  for (const subject of subjects) await warmUp(subject, settings);
  for (let round = 1; round <= options.rounds; round++) {
    say(`round ${round}`);
    for (const subject of subjects) subject.samples.push(await measure(subject, settings));
  }
  return subjects.map(({ target, work, samples }) => ({
    target: target.name,
    title: target.title,
    work: work.name,
    cpu: spread(samples.map(({ cpu }) => cpu)),
    redisCpu: spread(samples.map(({ redisCpu }) => redisCpu)),
    backendCpu: spread(samples.map(({ backendCpu }) => backendCpu)),
    decisions: spread(samples.map(({ decisions }) => decisions)).median,
    requestsPerSecond: spread(samples.map(({ requestsPerSecond }) => requestsPerSecond)),
  }));
}

async function warmUp(subject: Subject, settings: MeasureOptions): Promise<void> {
  await prepare(subject.target, subject.running, subject.work);
  let requests = 0;
  for (let round = 0; round < WARM_UP_ROUNDS && requests < WARM_UP_REQUESTS; round++) {
    const { requestsPerSecond } = await measure(subject, { ...settings, seconds: 1 });
    requests += requestsPerSecond;
  }
}
