import type { Comparison } from './comparison.ts';
import type { SubjectFigures } from './subjects-in-process.ts';
import type { Work } from './work.ts';

/** `aim`: a better figure than the limit, or none. `measured`: `NaN` if it was not. */
export type Mark = readonly [
  title: string,
  unit: string,
  atMost: number,
  aim: number | null,
  measured: number,
];

/** Relative to other targets of the same run. */
export function marks({ results, latencies, subjects }: Comparison): readonly Mark[] {
  const of = (target: string, work: Work['name']) =>
    results.find((result) => result.target === target && result.work === work);
  const cpu = (target: string, work: Work['name']) => of(target, work)?.cpu.median ?? Number.NaN;
  const ratio = (target: string, work: Work['name'], to: string, toWork = work) =>
    cpu(target, work) / cpu(to, toWork);
  const withRedis = (target: string) =>
    cpu(target, 'get') + (of(target, 'get')?.redisCpu.median ?? Number.NaN);
  const added = (target: string) =>
    latencies.find((latency) => latency.target === target)?.addedP50 ?? Number.NaN;
  const {
    bytesPerSubject = Number.NaN,
    keptAfterLeaving = Number.NaN,
    admissionOfFew = Number.NaN,
    admissionOfMany = Number.NaN,
  }: Partial<SubjectFigures> = subjects ?? {};
  const [own, redis] = ['storegate', 'storegate-redis'] as const;
  const relay = '× bare undici relay';
  const varied = cpu(own, 'get-varied') - cpu(own, 'get-same');
  // Only admission depends on the number of subjects.
  const grown = (cpu(own, 'get') + admissionOfMany - admissionOfFew) / cpu(own, 'get');
  const logged = cpu(own, 'get') - cpu('storegate-silent', 'get');
  const trips = (work: Work['name']) => of(redis, work)?.decisions ?? Number.NaN;
  const refusals = [[own, 'embedded'] as const, [redis, 'Redis'] as const].flatMap(
    ([target, state]) =>
      (['refused', 'unknown'] as const).flatMap((work): Mark[] => {
        const title = `${work === 'refused' ? '429 or 403' : '401'}, ${state} state`;
        return [
          [title, '× nginx limit_req', 1.4, 1.2, ratio(target, work, 'nginx-limit', 'refused')],
          [title, '× usual stack', 0.22, null, ratio(target, work, 'usual')],
        ];
      }),
  );
  return [
    ['GET, embedded state', '× nginx', 1.7, 1.5, ratio(own, 'get', 'nginx')],
    ['GET, Redis state', '× nginx', 1.9, 1.7, ratio(redis, 'get', 'nginx')],
    ['POST, Redis state', '× nginx', 2.2, 1.9, ratio(redis, 'post', 'nginx')],
    ['GET, Redis state', '× usual stack', 0.25, 0.2, ratio(redis, 'get', 'usual')],
    ['POST, Redis state', '× usual stack', 0.33, null, ratio(redis, 'post', 'usual')],
    ['GET, embedded state', relay, 0.85, 0.7, ratio(own, 'get', 'undici')],
    ['access log on, GET', 'µs more', 3, 2, logged],
    ['GET, a field differs each time', 'µs more', 0.3, null, varied],
    ['response of 100 KB', '× nginx', 1.3, 1.15, ratio(own, 'get-100k', 'nginx')],
    ['response of 10 MB', '× nginx', 1.3, 1.15, ratio(own, 'get-10m', 'nginx')],
    ['POST, 10 KB of JSON', '× JSON.parse and ajv', 2.9, 2.2, ratio(own, 'post-10k', 'ajv')],
    ['POST, 1 MB of JSON', '× JSON.parse and ajv', 1.55, 1.2, ratio(own, 'post-1m', 'ajv')],
    ...refusals,
    [
      'GET, gateway and Redis',
      '× nginx + Lua + Redis',
      0.65,
      0.6,
      withRedis(redis) / withRedis('nginx-lua-redis'),
    ],
    ['Redis CPU, GET', 'µs', 6, null, withRedis(redis) - cpu(redis, 'get')],
    ['Redis round trips, GET', 'per request', 1, null, trips('get')],
    // Batches of strikes are not round trips of a request.
    ['Redis round trips, 429 or 403', 'per request', 0.001, null, trips('refused')],
    ['latency added, p50, Redis state', relay, 1, 0.8, added(redis) / added('undici')],
    ['latency added, p50, embedded state', relay, 1, 0.8, added(own) / added('undici')],
    ['memory per active subject', 'bytes', 300, null, bytesPerSubject],
    ['memory kept after all have left', '× that', 0.1, null, keptAfterLeaving],
    ['GET among a million subjects', '× among a thousand', 1.15, null, grown],
  ];
}
