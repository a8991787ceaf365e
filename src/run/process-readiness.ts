import type { ProcessReadiness } from '../observe/peers/readiness.ts';
import type { Storage } from '../state/storage.ts';
import type { ProcessHealth } from './process-health.ts';
import type { Serving } from './serving.ts';

export function readinessOf(
  storage: Pick<Storage, 'ready'>,
  { ofState }: Pick<ProcessHealth, 'ofState'>,
  { away, knowsKeys }: Pick<Serving, 'away' | 'knowsKeys'>,
): ProcessReadiness {
  const isStateAway = ofState.aloneSince !== null;
  // During an outage the settings decide.
  const isStateReady = storage.ready() && (isStateAway || knowsKeys);
  return {
    readiness: !isStateReady ? 'state_away' : away.some(({ matters }) => matters) ? 'stores_away' : 'ready',
    away: [...(isStateAway || !knowsKeys ? ['state'] : []), ...away.map(({ upstream }) => `upstream ${upstream}`)],
  };
}
