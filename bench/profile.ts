import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Options } from './arguments.ts';
import { load } from './load.ts';
import { withSurroundings } from './surroundings.ts';
import { storegate, storegateRedis } from './targets/storegate.ts';
import { startStoregate } from './targets/storegate-process.ts';
import { prepare } from './verify.ts';
import { requestOf, works } from './work.ts';

const SECONDS = 10;
const SHOWN = 30;

/** Parts of V8's .cpuprofile; times are microseconds of the system's monotonic clock. */
interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** The profile file stays for a flame graph. */
export async function profile(options: Options, say: (line: string) => void): Promise<void> {
  const target = options.only?.includes(storegateRedis.name) ? storegateRedis : storegate;
  const folder = mkdtempSync(join(tmpdir(), 'storegate-profile-'));
  const work = works.find(
    ({ name }) => name === (options.works.length === 1 ? options.works[0] : 'get'),
  )!;
  const span = await withSurroundings(options.node, async (surroundings) => {
    const nodeOptions = ['--cpu-prof', `--cpu-prof-dir=${folder}`, '--cpu-prof-interval=500'];
    const running = await startStoregate(target.name, surroundings, {
      redis: target.redis,
      nodeOptions,
    });
    await prepare(target, running, work);
    const request = requestOf(work, running.url, running.keys);
    const settings = { connections: options.connections, folder: surroundings.children.folder };
    await load(request, { ...settings, seconds: 2 });
    say(`profiling ${target.title}, ${work.title}, ${SECONDS} s`);
    const from = monotonicMicroseconds();
    const { requests } = await load(request, { ...settings, seconds: SECONDS });
    const to = monotonicMicroseconds();
    say(`${requests} requests`);
    await running.stop();
    return { from, to };
  });
  const file = join(folder, readdirSync(folder).find((name) => name.endsWith('.cpuprofile'))!);
  console.log(summarize(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, span));
  say(`The whole profile, for the performance panel of a browser's developer tools: ${file}`);
}

/** The clock of V8's samples. */
function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1_000n);
}

function summarize(cpuProfile: CpuProfile, span: Span): string {
  const times = selfTimes(cpuProfile, span);
  const idle = times.get('(idle)') ?? 0;
  times.delete('(idle)');
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  const lines = rows.map(
    ([place, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} %  ${place}`,
  );
  return [
    `${(total / 1e6).toFixed(1)} s busy, ${(idle / 1e6).toFixed(1)} s idle; self time:`,
    ...lines,
  ].join('\n');
}

function selfTimes(
  { nodes, startTime, samples, timeDeltas }: CpuProfile,
  { from, to }: Span,
): Map<string, number> {
  const places = new Map(nodes.map(({ id, callFrame }) => [id, placeOf(callFrame)]));
  const times = new Map<string, number>();
  let now = startTime;
  samples.forEach((id, i) => {
    const delta = timeDeltas[i]!;
    now += delta;
    if (now < from || now > to) return;
    const place = places.get(id)!;
    times.set(place, (times.get(place) ?? 0) + delta);
  });
  return times;
}

function placeOf({ functionName, url, lineNumber }: CallFrame): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const file = url.startsWith('file:') ? relative(process.cwd(), fileURLToPath(url)) : url;
  return `${name}  ${file}:${lineNumber + 1}`;
}
