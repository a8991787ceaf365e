import type { Api } from '../config/config.ts';
import type { Contract } from '../config/contract/contract.ts';
import { refuses } from '../limits/admission.ts';
import type { Window } from '../limits/limits.ts';
import { countsIn, type Scopes, scopeOfApi } from '../limits/scopes.ts';
import { shortList } from './output.ts';

/** A client whose window is smaller than the cost of an operation would wait forever. */
export function costNotes(
  { name: api, plans }: Pick<Api, 'name' | 'plans'>,
  { operations }: Contract,
): string[] {
  const ofKeys = [
    ...[...plans.plans].map(
      ([name, { windows }]) => [`plan ${name}`, windows] as const,
    ),
    ...[...plans.accounts].map(
      ([name, windows]) => [`account ${name}`, windows] as const,
    ),
  ];
  const ofAnyone = plans.publicPlan
    ? [['public', plans.publicPlan.windows] as const]
    : [];
  return operations
    .filter(({ cost }) => cost > 1)
    .flatMap(({ id, method, path, cost, isPublic }) => {
      const all = isPublic ? [...ofKeys, ...ofAnyone] : ofKeys;
      const tight = all.flatMap(([name, windows]) =>
        describe(name, windows, cost, [scopeOfApi(api)]),
      );
      if (tight.length === 0) return [];
      return [
        `${id} (${method} ${path}): costs ${cost}, and always gets 429: ${shortList(tight, MOST_NAMED)}`,
      ];
    });
}

const MOST_NAMED = 10;

function describe(
  name: string,
  windows: readonly Window[] | null,
  cost: number,
  scopes: Scopes,
): string[] {
  const tight = windows?.find(
    (window) =>
      window.limit < cost && refuses(window) && countsIn(window, scopes),
  );
  return tight ? [`${name} has ${tight.limit} per ${tight.name}`] : [];
}
