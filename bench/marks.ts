import type { Comparison, Result } from './comparison.ts';
import type { Work } from './work.ts';

export interface Mark {
  readonly title: string;
  readonly unit: string;
  readonly atMost: number;
  /** A better figure than the limit; `null`: none. */
  readonly aim: number | null;
  /** `null`: not measured. */
  readonly measured: number | null;
}

/** Relative to other targets of the same run. */
export function marks(comparison: Comparison): Mark[] {
  return [
    ...beforeMarks(comparison),
    ...cpuMarks(comparison),
    ...redisMarks(comparison),
    ...latencyMarks(comparison),
    ...subjectMarks(comparison),
  ];
}

/**
 * Only with `--before`; the goals are those against the last commit on node:http and undici,
 * ad2b60d.
 */
function beforeMarks({ results }: Comparison): Mark[] {
  const ratio = (target: string, work: Work['name']) => {
    const of = (fits: (name: string) => boolean) =>
      results.find((r) => fits(r.target) && r.work === work)?.cpu.median;
    return divide(
      of((name) => name === target),
      of((name) => name.startsWith(`${target}@`)),
    );
  };
  return [
    mark('GET, embedded state', '× before', 0.55, 0.4, ratio('storegate', 'get')),
    mark('GET, Redis state', '× before', 0.55, 0.4, ratio('storegate-redis', 'get')),
    mark('POST, Redis state', '× before', 0.55, 0.45, ratio('storegate-redis', 'post')),
    mark('429 or 403, embedded state', '× before', 0.75, 0.6, ratio('storegate', 'refused')),
  ];
}

function cpuMarks(comparison: Comparison): Mark[] {
  const ratio = (target: string, work: Work['name'], to: string, toWork = work) =>
    divide(cpu(comparison, target, work), cpu(comparison, to, toWork));
  const logged = cpu(comparison, 'storegate', 'get');
  const silent = cpu(comparison, 'storegate-silent', 'get');
  const marks = [
    mark('GET, embedded state', '× nginx', 1.7, 1.5, ratio('storegate', 'get', 'nginx')),
    mark('GET, Redis state', '× nginx', 1.9, 1.7, ratio('storegate-redis', 'get', 'nginx')),
    mark('POST, Redis state', '× nginx', 2.2, 1.9, ratio('storegate-redis', 'post', 'nginx')),
    mark('GET, Redis state', '× usual stack', 0.25, 0.2, ratio('storegate-redis', 'get', 'usual')),
    mark(
      'POST, Redis state',
      '× usual stack',
      0.33,
      null,
      ratio('storegate-redis', 'post', 'usual'),
    ),
    mark(
      'GET, embedded state',
      '× bare undici relay',
      0.85,
      0.7,
      ratio('storegate', 'get', 'undici'),
    ),
    mark('access log on, GET', 'µs more', 3, 2, minus(logged, silent)),
    mark(
      'GET, a field differs each time',
      'µs more',
      0.3,
      null,
      minus(cpu(comparison, 'storegate', 'get-varied'), cpu(comparison, 'storegate', 'get-same')),
    ),
    mark('response of 100 KB', '× nginx', 1.3, 1.15, ratio('storegate', 'get-100k', 'nginx')),
    mark('response of 10 MB', '× nginx', 1.3, 1.15, ratio('storegate', 'get-10m', 'nginx')),
    mark(
      'POST, 10 KB of JSON',
      '× JSON.parse and ajv',
      2.9,
      2.2,
      ratio('storegate', 'post-10k', 'ajv'),
    ),
    mark(
      'POST, 1 MB of JSON',
      '× JSON.parse and ajv',
      1.55,
      1.2,
      ratio('storegate', 'post-1m', 'ajv'),
    ),
  ];
  for (const [target, state] of [
    ['storegate', 'embedded'],
    ['storegate-redis', 'Redis'],
  ] as const) {
    marks.push(
      mark(
        `429 or 403, ${state} state`,
        '× nginx limit_req',
        1.4,
        1.2,
        ratio(target, 'refused', 'nginx-limit'),
      ),
      mark(
        `429 or 403, ${state} state`,
        '× usual stack',
        0.22,
        null,
        ratio(target, 'refused', 'usual'),
      ),
      mark(
        `401, ${state} state`,
        '× nginx limit_req',
        1.4,
        1.2,
        ratio(target, 'unknown', 'nginx-limit', 'refused'),
      ),
      mark(`401, ${state} state`, '× usual stack', 0.22, null, ratio(target, 'unknown', 'usual')),
    );
  }
  return marks;
}

function redisMarks(comparison: Comparison): Mark[] {
  const of = (target: string, work: Work['name']) =>
    comparison.results.find((r) => r.target === target && r.work === work);
  const together = (result: Result | undefined) =>
    result && result.cpu.median + result.redisCpu.median;
  const admitted = of('storegate-redis', 'get');
  return [
    mark(
      'GET, gateway and Redis',
      '× nginx + Lua + Redis',
      0.65,
      0.6,
      divide(together(admitted), together(of('nginx-lua-redis', 'get'))),
    ),
    mark('Redis CPU, GET', 'µs', 6, null, admitted?.redisCpu.median),
    mark('Redis round trips, GET', 'per request', 1, null, admitted?.decisions),
    // Batches of strikes are not round trips of a request.
    mark(
      'Redis round trips, 429 or 403',
      'per request',
      0.001,
      null,
      of('storegate-redis', 'refused')?.decisions,
    ),
  ];
}

function latencyMarks({ latencies }: Comparison): Mark[] {
  const added = (target: string) =>
    latencies.find((latency) => latency.target === target)?.addedP50;
  const unit = '× bare undici relay';
  return [
    mark(
      'latency added, p50, Redis state',
      unit,
      1.0,
      0.8,
      divide(added('storegate-redis'), added('undici')),
    ),
    mark(
      'latency added, p50, embedded state',
      unit,
      1.0,
      0.8,
      divide(added('storegate'), added('undici')),
    ),
  ];
}

function subjectMarks(comparison: Comparison): Mark[] {
  const { subjects } = comparison;
  const request = cpu(comparison, 'storegate', 'get');
  // Only admission depends on the number of subjects.
  const grown = request && subjects && request + subjects.admissionOfMany - subjects.admissionOfFew;
  return [
    mark('memory per active subject', 'bytes', 300, null, subjects?.bytesPerSubject),
    mark('memory kept after all have left', '× that', 0.1, null, subjects?.keptAfterLeaving),
    mark('GET among a million subjects', '× among a thousand', 1.15, null, divide(grown, request)),
  ];
}

function mark(
  title: string,
  unit: string,
  atMost: number,
  aim: number | null,
  measured: number | null | undefined,
): Mark {
  return { title, unit, atMost, aim, measured: measured ?? null };
}

function cpu({ results }: Comparison, target: string, work: Work['name']): number | undefined {
  return results.find((result) => result.target === target && result.work === work)?.cpu.median;
}

function divide(a: number | null | undefined, b: number | null | undefined): number | null {
  return a == null || b == null ? null : a / b;
}

function minus(a: number | undefined, b: number | undefined): number | null {
  return a === undefined || b === undefined ? null : a - b;
}
