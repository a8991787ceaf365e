import { missingExecutable } from './executable.ts';
import { type StoregateOptions, startStoregate } from './storegate-process.ts';
import { nothingMissing, type Target } from './target.ts';

const made = new Map<string, StoregateOptions>();

/** The gateway of `npm start` with embedded state. */
export const storegate = storegateTarget('storegate', 'storegate, embedded state', {});

/** The same with shared state. */
export const storegateRedis = storegateTarget('storegate-redis', 'storegate, Redis state', { redis: true });

/** The same in two processes; the cost of a request must not grow. */
export const storegateWorkers: Target = {
  ...storegateTarget('storegate-workers', 'storegate, Redis state, 2 workers', { redis: true, workers: 2 }),
  works: ['get', 'refused'],
};

/** The same with a log line per request; the lines go to /dev/null. */
export const storegateLog: Target = {
  ...storegateTarget('storegate-log', 'storegate, embedded state, access log', { log: true }),
  works: ['get'],
};

/** The same target in another checkout. `commit` names it in tables. */
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
    works: ['get', 'post', 'refused', 'unknown'],
    counts: true,
    redis: options.redis === true,
    missing: options.redis ? () => missingExecutable('redis-server') : nothingMissing,
    start: (surroundings) => startStoregate(name, surroundings, options),
  };
}
