import { execFileSync } from 'node:child_process';
import { checkOut } from '../test/support/checkout.ts';
import type { Options } from './arguments.ts';
import { addedLatency, type Latency } from './latency.ts';
import { describeMachine, type Machine } from './machine.ts';
import { type MeasureOptions, measure, type Sample } from './measure.ts';
import { missingExecutable } from './processors.ts';
import { type Spread, spread } from './statistics.ts';
import type { SubjectFigures } from './subjects-in-process.ts';
import { withSurroundings } from './surroundings.ts';
import { targets, units } from './targets/all.ts';
import type { Target } from './targets/target.ts';
import { prepare, type Started, type Subject } from './verify.ts';
import { unitWork, type Work, works } from './work.ts';

/** CPU times are microseconds per request. */
export interface Comparison {
  readonly machine: Machine;
  readonly rounds: number;
  readonly connections: number;
  readonly results: readonly Result[];
  readonly latencies: readonly Latency[];
  /** `null`: not measured. */
  readonly subjects: SubjectFigures | null;
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export interface Result {
  readonly target: string;
  readonly title: string;
  readonly work: Work['name'];
  readonly cpu: Spread;
  readonly redisCpu: Spread;
  readonly decisions: number;
  readonly requestsPerSecond: Spread;
}

/** The load of an idle machine is below this. */
const BUSY = 0.5;
/** V8 compiles in the background after some ten thousand requests. */
const WARM_UP_REQUESTS = 40_000;
const WARM_UP_ROUNDS = 6;

const say = (line: string) => console.error(line);

export function compare(options: Options): Promise<Comparison> {
  return withSurroundings(async (surroundings) => {
    const plan = planOf(options);
    const skipped: { name: string; reason: string }[] = [];
    const start = async (target: Target): Promise<Started[]> => {
      const { name, redis } = target;
      const reason = (redis && missingExecutable('redis-server')) || target.missing?.();
      if (!reason) return [{ target, running: await target.start(surroundings) }];
      skipped.push({ name, reason });
      say(`skipped ${name}: ${reason}`);
      return [];
    };
    const beside = await Promise.all(units.filter((unit) => plan.has(unit)).map(start));
    const machine = describeMachine();
    if (machine.loadBefore > BUSY)
      say(`the machine is busy with something else (load ${machine.loadBefore}): take care`);

    const subjectsOf = ({ target, running }: Started, works = plan.get(target)!): Measured[] =>
      works.map((work) => ({ target, running, work, samples: [] }));
    const ofUnits = beside.flat().flatMap((unit) => subjectsOf(unit));
    const measured = [...ofUnits];
    const hasLatency = options.works.includes('latency');
    const latencies = hasLatency ? await addedLatency(beside.flat(), surroundings) : [];
    const { folder } = surroundings.children;
    const context = { ...surroundings, ...options, folder };
    // One at a time beside its units: more JavaScript processes, even idle ones, raise the CPU of
    // each.
    const older = options.before === null ? null : checkOut(options.before, folder);
    for (const [target, works] of plan) {
      if (units.includes(target)) continue;
      const started = await start(target);
      if (started.length === 0) continue;
      const twin = older && target.before?.(older.name, older.folder);
      const both = [...started, ...(twin ? await start(twin) : [])];
      const own = both.flatMap((one) => subjectsOf(one, works));
      const ownUnits = own.map(({ work }) => unitWork(work.name));
      say(`${target.name}: ${own.length} works, ${options.rounds} rounds`);
      const unitsBeside = ofUnits.filter(({ work }) => ownUnits.includes(work.name));
      await measureInTurns([...unitsBeside, ...own], context);
      measured.push(...own);
      // Every call measures the backend itself again.
      if (hasLatency) latencies.push(...(await addedLatency(started, surroundings)).slice(1));
      await Promise.all(both.map(({ running }) => running.stop()));
    }
    const results = measured.filter(({ samples }) => samples.length > 0).map(toResult);
    for (const { name, body } of works)
      if (body !== null && options.works.includes(name))
        results.push(parsingAlone(name, options.rounds));
    const subjects: SubjectFigures | null = options.works.includes('subjects')
      ? inProcess('subjects-in-process.ts')
      : null;
    const { rounds, connections } = options;
    return { machine, rounds, connections, results, latencies, subjects, skipped };
  });
}

/** Includes the units. */
function planOf({ only, works: expected }: Options): ReadonlyMap<Target, readonly Work[]> {
  const chosen = targets.filter(({ name }) => only.includes(name));
  const done = chosen.flatMap(({ works }) => works.filter((work) => expected.includes(work)));
  const ofUnits: readonly string[] = done.map(unitWork);
  const plan = [...new Set([...units, ...chosen])].map((target) => {
    const names = units.includes(target) ? ofUnits : expected;
    const own = works.filter(({ name }) => target.works.includes(name) && names.includes(name));
    return [target, own] as const;
  });
  const hasLatency = expected.includes('latency');
  return new Map(plan.filter(([, own]) => hasLatency || own.length > 0));
}

interface Measured extends Subject {
  readonly samples: Sample[];
}

async function measureInTurns(
  subjects: readonly Measured[],
  settings: MeasureOptions & { readonly rounds: number },
): Promise<void> {
  for (const subject of subjects) if (subject.samples.length === 0) await warmUp(subject, settings);
  for (let round = 1; round <= settings.rounds; round++) {
    for (const subject of subjects) subject.samples.push(await measure(subject, settings));
  }
}

function toResult({ target, work, samples }: Measured): Result {
  const of = (name: keyof Sample) => spread(samples.map((sample) => sample[name]));
  return {
    target: target.name,
    title: target.title,
    work: work.name,
    cpu: of('cpu'),
    redisCpu: of('redisCpu'),
    decisions: of('decisions').median,
    requestsPerSecond: of('requestsPerSecond'),
  };
}

/** JSON.parse and ajv, without a gateway. */
function parsingAlone(work: Work['name'], rounds: number): Result {
  const cpu: Spread = inProcess('parsing-in-process.ts', work, `${rounds}`);
  const [redisCpu, requestsPerSecond] = [spread([0]), spread([1e6 / cpu.median])];
  const title = 'JSON.parse and ajv alone';
  return { target: 'ajv', title, work, cpu, redisCpu, decisions: 0, requestsPerSecond };
}

/** The result of a script with a heap of its own. */
function inProcess<T>(script: string, ...args: string[]): T {
  const file = new URL(script, import.meta.url).pathname;
  return JSON.parse(execFileSync(process.execPath, [file, ...args], { encoding: 'utf8' }));
}

async function warmUp(subject: Subject, settings: MeasureOptions): Promise<void> {
  await prepare(subject);
  let requests = 0;
  for (let round = 0; round < WARM_UP_ROUNDS && requests < WARM_UP_REQUESTS; round++)
    requests += (await measure(subject, settings)).requestsPerSecond;
}
