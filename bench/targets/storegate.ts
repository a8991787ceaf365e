import { type Work, works } from '../work.ts';
import { type StoregateOptions, startStoregate } from './storegate-process.ts';
import type { Target } from './target.ts';

const SHIPPED = { log: true };
const SHARED = { redis: true, log: true };

/** As shipped, with a line per request, which goes to /dev/null. */
export const storegate = gateway('storegate', 'embedded state', SHIPPED);

export const gateways: readonly Target[] = [
  storegate,
  gateway('storegate-redis', 'Redis state', SHARED),
  // The cost of a request must not grow with processes.
  gateway(
    'storegate-workers',
    'Redis state, 2 workers',
    { ...SHARED, env: { STOREGATE_WORKERS: '2' } },
    ['get', 'refused'],
  ),
  gateway('storegate-silent', 'embedded state, no log', {}, ['get', 'post', 'refused']),
];

function gateway(
  name: string,
  state: string,
  options: StoregateOptions,
  ownWorks: readonly Work['name'][] = works.map(({ name }) => name),
): Target {
  return {
    name,
    title: `storegate, ${state}`,
    works: ownWorks,
    counts: true,
    redis: options.redis === true,
    start: (surroundings) => startStoregate(name, surroundings, options),
    before: (commit, project) =>
      gateway(`${name}@${commit}`, `${state}, ${commit}`, { ...options, project }, ownWorks),
  };
}
