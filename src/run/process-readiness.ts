import type { ProcessReadiness } from '../observe/peers/status.ts';
import type { Storage } from '../state/storage.ts';
import type { ProcessHealth } from './process-health.ts';
import type { Serving } from './serving.ts';

export function readinessOf(
  storage: Pick<Storage, 'ready'>,
  { ofState }: Pick<ProcessHealth, 'ofState'>,
  { down, knowsKeys }: Pick<Serving, 'down' | 'knowsKeys'>,
): ProcessReadiness {
  const isStateDown = ofState.aloneSince !== null;
  // During an outage the settings decide.
  const isStateReady = storage.ready() && (isStateDown || knowsKeys);
  return {
    readiness: !isStateReady ? 'state_away' : down.some(({ matters }) => matters) ? 'stores_away' : 'ready',
    down: [...(isStateDown || !knowsKeys ? ['state'] : []), ...down.map(({ upstream }) => `upstream ${upstream}`)],
  };
}
