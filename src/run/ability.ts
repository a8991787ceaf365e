import type { Ability } from '../fleet/readiness.ts';
import type { Storage } from '../state/storage.ts';
import type { Serving } from './serving.ts';
import type { Standing } from './standing.ts';

/** Whether this process, which carries requests, could answer them. */
export function abilityOf(
  storage: Pick<Storage, 'ready'>,
  { ofState }: Pick<Standing, 'ofState'>,
  { away }: Pick<Serving, 'away'>,
): Ability {
  return {
    readiness: !storage.ready() ? 'state_away' : away.some(({ matters }) => matters) ? 'stores_away' : 'ready',
    away: [...(ofState.aloneSince === null ? [] : ['state']), ...away.map(({ upstream }) => `upstream ${upstream}`)],
  };
}
