import type { Event } from '../observe/events.ts';
import type { ProcessStatus } from '../observe/peers/status.ts';

const NEWEST = 0.05;

export class ProcessHealth {
  #aloneSince: number | null = null;
  #stateTime: number | null = null;

  get ofState(): Pick<ProcessStatus, 'aloneSince' | 'stateTime'> {
    return { aloneSince: this.#aloneSince, stateTime: this.#stateTime };
  }

  readonly observe = (event: Event): void => {
    switch (event.type) {
      case 'state.answered':
        this.#stateTime = mean(this.#stateTime, event.duration);
        break;
      case 'state.outage':
        this.#aloneSince ??= Date.now();
        break;
      case 'state.recovered':
        this.#aloneSince = null;
        break;
    }
  };
}

function mean(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}
