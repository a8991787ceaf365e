import { works } from '../work.ts';
import { missingExecutable } from './executable.ts';
import { type StoregateOptions, startStoregate } from './storegate-process.ts';
import { nothingMissing, type Target } from './target.ts';

const made = new Map<string, StoregateOptions>();

/** As shipped, with a line per request, which goes to /dev/null. */
export const storegate = storegateTarget('storegate', 'storegate, embedded state', { log: true });

export const storegateRedis = storegateTarget('storegate-redis', 'storegate, Redis state', {
  redis: true,
  log: true,
});

/** The cost of a request must not grow with processes. */
export const storegateWorkers: Target = {
  ...storegateTarget('storegate-workers', 'storegate, Redis state, 2 workers', {
    redis: true,
    workers: 2,
    log: true,
  }),
  works: ['get', 'refused'],
};

export const storegateSilent: Target = {
  ...storegateTarget('storegate-silent', 'storegate, embedded state, no log', {}),
  works: ['get', 'post', 'refused'],
};

/** `commit` names it in tables. */
export function before(target: Target, commit: string, project: string): Target | null {
  const options = made.get(target.name);
  if (!options) return null;
  const { name, title } = target;
  return {
    ...storegateTarget(`${name}@${commit}`, `${title}, ${commit}`, { ...options, project }),
    works: target.works,
  };
}

function storegateTarget(name: string, title: string, options: StoregateOptions): Target {
  made.set(name, options);
  return {
    name,
    title,
    works: works.map(({ name }) => name),
    counts: true,
    redis: options.redis === true,
    missing: options.redis ? () => missingExecutable('redis-server') : nothingMissing,
    start: (surroundings) => startStoregate(name, surroundings, options),
  };
}
