import { works } from '../work.ts';
import { type StoregateOptions, startStoregate } from './storegate-process.ts';
import { missingExecutable, type Target } from './target.ts';

const made = new Map<string, StoregateOptions>();

/** As shipped, with a line per request, which goes to /dev/null. */
export const storegate = gateway('storegate', 'embedded state', { log: true });

export const gateways: readonly Target[] = [
  storegate,
  gateway('storegate-redis', 'Redis state', { redis: true, log: true }),
  // The cost of a request must not grow with processes.
  {
    ...gateway('storegate-workers', 'Redis state, 2 workers', {
      redis: true,
      workers: 2,
      log: true,
    }),
    works: ['get', 'refused'],
  },
  {
    ...gateway('storegate-silent', 'embedded state, no log', {}),
    works: ['get', 'post', 'refused'],
  },
];

/** The same gateway of another commit; `null`: not a gateway. */
export function before(
  { name, title, works }: Target,
  commit: string,
  project: string,
): Target | null {
  const options = made.get(name);
  if (!options) return null;
  const target = gateway(`${name}@${commit}`, '', { ...options, project });
  return { ...target, title: `${title}, ${commit}`, works };
}

function gateway(name: string, state: string, options: StoregateOptions): Target {
  made.set(name, options);
  return {
    name,
    title: `storegate, ${state}`,
    works: works.map(({ name }) => name),
    counts: true,
    redis: options.redis === true,
    missing: () => (options.redis ? missingExecutable('redis-server') : null),
    start: (surroundings) => startStoregate(name, surroundings, options),
  };
}
