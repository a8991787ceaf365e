import { cpuTime } from './cpu.ts';
import { type Load, load } from './load.ts';
import { type RedisServer, redisDecisions } from './redis-server.ts';
import { letsThrough, probe, type Subject, wrong } from './verify.ts';
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

export interface MeasureOptions {
  readonly connections: number;
  readonly folder: string;
  readonly redis: RedisServer | null;
}

/** Throws `wrong` on an unexpected response. */
export async function measure(subject: Subject, options: MeasureOptions): Promise<Sample> {
  const { target, running, work } = subject;
  const redis = target.redis ? options.redis : null;
  const readUsage = async () => ({
    target: cpuTime(running.pid),
    redis: redis ? cpuTime(redis.pid) : 0,
    decisions: redis ? await redisDecisions(redis) : 0,
  });

  const remaining = await probe(subject);
  const before = await readUsage();
  const { connections, folder } = options;
  const result = await load(requestOf(work, running.port), {
    seconds: 1,
    connections,
    folder,
    script: work.script,
  });
  const after = await readUsage();
  const leftAfter = await probe(subject);

  const decisions = after.decisions - before.decisions;
  const problem =
    wrongCounts(work, result, letsThrough(subject)) ??
    (isAdmitted(work) && remaining !== null
      ? wrongCharge(remaining - leftAfter!, result, connections)
      : null) ??
    (isAdmitted(work) && target.redis && decisions === 0 ? 'Redis was never asked' : null);
  if (problem !== null) throw wrong(subject, problem);

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
