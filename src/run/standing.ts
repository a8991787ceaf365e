import type { Event } from '../observe/events.ts';
import type { LastReload, ProcessStatus } from '../observe/peers/status.ts';

/** What the newest answer of the state counts in the mean of their times. */
const NEWEST = 0.05;

/** How this process and its configuration stand, as events tell it. */
export class Standing {
  #aloneSince: number | null = null;
  #stateTime: number | null = null;
  #lastReload: LastReload | null = null;

  get ofState(): Pick<ProcessStatus, 'aloneSince' | 'stateTime'> {
    return { aloneSince: this.#aloneSince, stateTime: this.#stateTime };
  }

  get lastReload(): LastReload | null {
    return this.#lastReload;
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
      case 'reload.done':
        this.#lastReload = { at: Date.now(), reason: event.reason, problems: [] };
        break;
      case 'reload.refused':
        this.#lastReload = { at: Date.now(), reason: event.reason, problems: event.problems };
        break;
    }
  };
}

function mean(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}
