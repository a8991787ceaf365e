import { notFuture } from '../common/time.ts';
import type { Upstreams } from '../gateway/upstream/backends.ts';
import type { Event } from '../observe/events.ts';
import type { ProcessReadiness, ProcessStatus } from '../observe/peers/status.ts';
import type { Storage } from '../records/storage.ts';

const NEWEST = 0.05;

export class ProcessHealth {
  #localSince: number | null = null;
  #stateTime: number | null = null;

  get ofState(): Pick<ProcessStatus, 'localSince' | 'stateTime'> {
    if (this.#localSince !== null) this.#localSince = notFuture(this.#localSince, Date.now());
    return { localSince: this.#localSince, stateTime: this.#stateTime };
  }

  readonly observe = (event: Event): void => {
    switch (event.type) {
      case 'state.answered':
        this.#stateTime = mean(this.#stateTime, event.duration);
        break;
      case 'state.outage':
        this.#localSince ??= Date.now();
        break;
      case 'state.recovered':
        this.#localSince = null;
        break;
    }
  };
}

function mean(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}

export function readinessOf(
  storage: Pick<Storage, 'ready'>,
  { ofState }: Pick<ProcessHealth, 'ofState'>,
  { down, knowsKeys }: { readonly down: Upstreams['down']; readonly knowsKeys: boolean },
): ProcessReadiness {
  const isStateDown = ofState.localSince !== null;
  // During an outage the settings decide.
  const isStateReady = storage.ready() && (isStateDown || knowsKeys);
  return {
    readiness: !isStateReady
      ? 'state_down'
      : down.some(({ matters }) => matters)
        ? 'upstreams_down'
        : 'ready',
    down: [
      ...(isStateDown || !knowsKeys ? ['state'] : []),
      ...down.map(({ upstream }) => `upstream ${upstream}`),
    ],
  };
}
