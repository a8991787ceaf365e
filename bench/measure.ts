import { cpuTime } from './cpu.ts';
import { type Load, load } from './load.ts';
import type { RedisServer } from './redis-server.ts';
import type { Running, Target } from './targets/target.ts';
import { letsThrough, probe, WrongAnswer } from './verify.ts';
import { isAdmitted, requestOf, type Work } from './work.ts';

/** CPU times are microseconds per request. */
export interface Sample {
  readonly cpu: number;
  /** 0 without Redis. */
  readonly redisCpu: number;
  /** Redis round trips per request. */
  readonly decisions: number;
  readonly requestsPerSecond: number;
}

export interface Subject {
  readonly target: Target;
  readonly running: Running;
  readonly work: Work;
}

export interface MeasureOptions {
  readonly connections: number;
  readonly folder: string;
  readonly redis: RedisServer | null;
}

/** Throws WrongAnswer on an unexpected response. */
export async function measure(
  { target, running, work }: Subject,
  options: MeasureOptions,
): Promise<Sample> {
  const { redis } = options;
  const readUsage = async () => ({
    target: cpuTime(running.pid),
    redis: target.redis && redis ? cpuTime(redis.pid) : 0,
    decisions: target.redis && redis ? await redis.decisions() : 0,
  });

  const remaining = await probe(target, running, work);
  const before = await readUsage();
  const { connections, folder } = options;
  const result = await load(requestOf(work, running.url, running.keys), {
    seconds: 1,
    connections,
    folder,
    ...(work.script !== undefined && { script: work.script }),
  });
  const after = await readUsage();
  const leftAfter = await probe(target, running, work);

  const decisions = after.decisions - before.decisions;
  const problem =
    wrongCounts(work, result, letsThrough(target, work)) ??
    (isAdmitted(work) && remaining !== null
      ? wrongCharge(remaining - leftAfter!, result, connections)
      : null) ??
    (isAdmitted(work) && target.redis && decisions === 0 ? 'Redis was never asked' : null);
  if (problem !== null) throw new WrongAnswer(`${target.name}, ${work.title}: ${problem}`);

  return {
    cpu: (after.target - before.target) / result.requests,
    redisCpu: (after.redis - before.redis) / result.requests,
    decisions: decisions / result.requests,
    requestsPerSecond: result.requests / result.seconds,
  };
}

function wrongCounts(
  work: Work,
  { requests, refusals, failures }: Load,
  tolerated: number,
): string | null {
  if (requests === 0) return 'no request was answered';
  if (failures > 0) return `${failures} of ${requests} requests got no answer`;
  const wrong = isAdmitted(work) ? refusals : requests - refusals;
  if (wrong <= tolerated) return null;
  return `${wrong} of ${requests} answers were ${isAdmitted(work) ? 'refusals' : 'no refusals'}`;
}

/** Every response is charged once; requests cut off at the end of the round may be charged. */
function wrongCharge(charged: number, { requests }: Load, connections: number): string | null {
  const most = requests + 1 + connections;
  return charged > requests && charged <= most
    ? null
    : `${requests} requests were charged as ${charged}`;
}
