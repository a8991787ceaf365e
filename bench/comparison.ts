import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { checkOut } from '../test/support/checkout.ts';
import type { Options } from './arguments.ts';
import { addedLatency, type Latency } from './latency.ts';
import { describeMachine, type Machine } from './machine.ts';
import { type MeasureOptions, measure, type Sample, type Subject } from './measure.ts';
import { planOf } from './plan.ts';
import { type Spread, spread } from './statistics.ts';
import { measureSubjects, type SubjectFigures } from './subjects.ts';
import { type Started, startAll, withSurroundings } from './surroundings.ts';
import { units } from './targets/all.ts';
import { before, storegate } from './targets/storegate.ts';
import type { Target } from './targets/target.ts';
import { prepare } from './verify.ts';
import { type Work, works } from './work.ts';

const run = promisify(execFile);

/** CPU times are microseconds per request. */
export interface Comparison {
  readonly machine: Machine;
  /** Whether the options left nothing out. */
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

/** The load of an idle machine is below this. */
const BUSY = 0.5;
/** V8 compiles in the background after some ten thousand requests. */
const WARM_UP_REQUESTS = 40_000;
const WARM_UP_ROUNDS = 6;

export function compare(options: Options, say: (line: string) => void): Promise<Comparison> {
  return withSurroundings(options.node, async (surroundings) => {
    const plan = planOf(options);
    const others = [...plan.keys()].filter((target) => !units.includes(target));
    const skipped: { name: string; reason: string }[] = [];
    const skip = ({ name }: Target, reason: string) => {
      skipped.push({ name, reason });
      say(`skipped ${name}: ${reason}`);
    };
    const beside = await startAll(
      units.filter((unit) => plan.has(unit)),
      surroundings,
      skip,
    );
    const machine = describeMachine(
      options.node,
      [...plan.keys()].map(({ name }) => name),
    );
    if (machine.loadBefore > BUSY)
      say(`the machine is busy with something else (load ${machine.loadBefore}): take care`);

    const ofUnits = beside.flatMap((unit) => subjectsOf(unit, plan.get(unit.target)!));
    const measured = [...ofUnits];
    const latencies: Latency[] = options.quick ? [] : await addedLatency(beside, surroundings, say);
    const context = { ...surroundings, ...options, folder: surroundings.children.folder };
    // One at a time beside its units: more JavaScript processes, even idle ones, raise the CPU of
    // each.
    const older =
      options.before === null ? null : checkOut(options.before, surroundings.children.folder);
    for (const target of others) {
      const [started] = await startAll([target], surroundings, skip);
      if (!started) continue;
      const twin = older && before(target, older.name, older.folder);
      const twins = twin ? await startAll([twin], surroundings, skip) : [];
      const own = [started, ...twins].flatMap((one) => subjectsOf(one, plan.get(target)!));
      say(`${target.name}: ${own.length} works, ${options.rounds} rounds of ${options.seconds} s`);
      await measureInTurns([...ofUnits.filter((unit) => isUnitOf(unit, own)), ...own], context);
      measured.push(...own);
      if (!options.quick)
        latencies.push(...(await addedLatency([started], surroundings, say)).filter(isOfTarget));
      await Promise.all([started, ...twins].map(({ running }) => running.stop()));
    }
    const results = measured.filter(({ samples }) => samples.length > 0).map(toResult);
    for (const { name } of works.filter(
      ({ name }) => options.works.includes(name) && name.startsWith('post-'),
    ))
      results.push(await parsingAlone(name, options));
    const counted = !options.quick && others.includes(storegate);
    const subjects = counted ? await measureSubjects(options.node, say) : null;
    const { rounds, seconds, connections } = options;
    const whole =
      options.before === null && options.only === null && options.works.length === works.length;
    return { machine, whole, rounds, seconds, connections, results, latencies, subjects, skipped };
  });
}

interface Measured extends Subject {
  readonly samples: Sample[];
}

function subjectsOf({ target, running }: Started, works: readonly Work[]): Measured[] {
  return works.map((work) => ({ target, running, work, samples: [] }));
}

function isUnitOf({ work }: Measured, subjects: readonly Measured[]): boolean {
  return subjects.some(
    (subject) =>
      subject.work === work || (subject.work.name === 'unknown' && work.name === 'refused'),
  );
}

/** Every call measures the backend itself again. */
function isOfTarget({ target }: Latency): boolean {
  return target !== 'direct';
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
  return {
    target: target.name,
    title: target.title,
    work: work.name,
    cpu: spread(samples.map(({ cpu }) => cpu)),
    redisCpu: spread(samples.map(({ redisCpu }) => redisCpu)),
    backendCpu: spread(samples.map(({ backendCpu }) => backendCpu)),
    decisions: spread(samples.map(({ decisions }) => decisions)).median,
    requestsPerSecond: spread(samples.map(({ requestsPerSecond }) => requestsPerSecond)),
  };
}

/** JSON.parse and ajv, without a gateway. */
async function parsingAlone(work: Work['name'], { node, rounds }: Options): Promise<Result> {
  const script = new URL('parsing-in-process.ts', import.meta.url).pathname;
  const { stdout } = await run(node, [
    '--disable-warning=ExperimentalWarning',
    script,
    work,
    String(rounds),
  ]);
  const cpu = JSON.parse(stdout) as Spread;
  const none = spread([0]);
  const requestsPerSecond = spread([1e6 / cpu.median]);
  const title = 'JSON.parse and ajv alone';
  return {
    target: 'ajv',
    title,
    work,
    cpu,
    redisCpu: none,
    backendCpu: none,
    decisions: 0,
    requestsPerSecond,
  };
}

async function warmUp(subject: Subject, settings: MeasureOptions): Promise<void> {
  await prepare(subject.target, subject.running, subject.work);
  let requests = 0;
  for (let round = 0; round < WARM_UP_ROUNDS && requests < WARM_UP_REQUESTS; round++) {
    const { requestsPerSecond } = await measure(subject, { ...settings, seconds: 1 });
    requests += requestsPerSecond;
  }
}
