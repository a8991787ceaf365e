import { works } from '../work.ts';
import { missingExecutable } from './executable.ts';
import { type StoregateOptions, startStoregate } from './storegate-process.ts';
import { nothingMissing, type Target } from './target.ts';

const made = new Map<string, StoregateOptions>();

export const storegate = storegateTarget('storegate', 'storegate, embedded state', {});

export const storegateRedis = storegateTarget('storegate-redis', 'storegate, Redis state', {
  redis: true,
});

/** The cost of a request must not grow with processes. */
export const storegateWorkers: Target = {
  ...storegateTarget('storegate-workers', 'storegate, Redis state, 2 workers', {
    redis: true,
    workers: 2,
  }),
  works: ['get', 'refused'],
};

/** The lines go to /dev/null. */
export const storegateLog: Target = {
  ...storegateTarget('storegate-log', 'storegate, embedded state, access log', { log: true }),
  works: ['get'],
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
