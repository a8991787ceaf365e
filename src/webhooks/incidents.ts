import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type Data, timeOf, uniqueEvent, type WebhookEvent } from './event.ts';

const WEEK = 7 * DAY;

/** One process's view. Plain values, as WebhookEvent. */
export interface Sighting {
  readonly sight: 'store' | 'state';
  readonly name: string;
  readonly isDown: boolean;
  /** Unix milliseconds. */
  readonly at: number;
  readonly about: Data;
}

interface Incident {
  readonly first: Sighting;
  /** `null`: this process. */
  readonly by: Set<number | null>;
}

/** Merges processes: down with the first, up with the last. */
export class Incidents {
  readonly #gateway: string;
  readonly #open = new Map<string, Incident>();

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  see(sighting: Sighting, process: number | null): WebhookEvent | null {
    const name = `${sighting.sight} ${sighting.name}`;
    const incident = this.#open.get(name);
    if (sighting.isDown) {
      if (incident) incident.by.add(process);
      else this.#open.set(name, { first: sighting, by: new Set([process]) });
      return incident ? null : this.#down(name, sighting);
    }
    if (!incident?.by.delete(process) || incident.by.size > 0) return null;
    this.#open.delete(name);
    return this.#back(name, sighting, incident.first.at);
  }

  /** Its replacement re-detects outages only it had seen. */
  forget(process: number, at: number): WebhookEvent[] {
    return [...this.#open.values()].flatMap(({ first }) => this.see({ ...first, isDown: false, at }, process) ?? []);
  }

  #down(name: string, { sight, at, about }: Sighting): WebhookEvent {
    const data = { ...about, gateway: this.#gateway };
    // Gateways that cannot reach each other create the same event within a minute, so that endpoints can deduplicate
    // it.
    if (sight === 'state')
      return { ...uniqueEvent('state.down', at, `${Math.floor(at / MINUTE)}`, at + HOUR, data), apart: true };
    // For an hour: a gateway that crashed during the outage never reports it up.
    const once = { name: `${name} away`, since: 0, until: at + HOUR };
    return { type: 'upstream.down', at, data, identity: `${name} ${at}`, once };
  }

  #back(name: string, { sight, at, about }: Sighting, since: number): WebhookEvent {
    const { upstream, store } = about;
    const duration = Math.max(0, at - since);
    const data = { upstream, store, since: timeOf(since), duration, gateway: this.#gateway };
    const once = { name: `${name} back`, since, until: at + WEEK, ends: `${name} away` };
    return { type: sight === 'state' ? 'state.up' : 'upstream.up', at, data, identity: `${name} ${at}`, once };
  }
}
