import type { Options } from './arguments.ts';
import { targets, units } from './targets/all.ts';
import type { Target } from './targets/target.ts';
import { type Work, works } from './work.ts';

export type Plan = ReadonlyMap<Target, readonly Work[]>;

/** Includes the units. */
export function planOf({ only, works: expected }: Pick<Options, 'only' | 'works'>): Plan {
  const chosen = targets.filter(({ name }) => only === null || only.includes(name));
  const done = new Set(
    chosen.flatMap((target) => target.works.filter((work) => expected.includes(work))),
  );
  // nginx has no keys and so no 401; its 429 is the unit of every refusal.
  if (done.has('unknown')) done.add('refused');
  const plan = targets.map((target): [Target, Work[]] => {
    const own = works.filter(({ name }) => target.works.includes(name));
    if (units.includes(target)) return [target, own.filter(({ name }) => done.has(name))];
    return [
      target,
      chosen.includes(target) ? own.filter(({ name }) => expected.includes(name)) : [],
    ];
  });
  return new Map(plan.filter(([, own]) => own.length > 0));
}
