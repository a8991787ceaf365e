import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type Data, timeOf, type WebhookEvent, type WebhookType } from './event.ts';

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
  readonly last: Sighting;
  readonly since: number;
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
      else this.#open.set(name, { last: sighting, since: sighting.at, by: new Set([process]) });
      return incident ? null : this.#down(name, sighting);
    }
    if (!incident?.by.delete(process) || incident.by.size > 0) return null;
    this.#open.delete(name);
    return this.#back(name, sighting, incident.since);
  }

  /** Its replacement re-detects outages only it had seen. */
  forget(process: number, at: number): WebhookEvent[] {
    return [...this.#open.values()].flatMap(({ last }) => this.see({ ...last, isDown: false, at }, process) ?? []);
  }

  #down(name: string, { sight, at, about }: Sighting): WebhookEvent {
    const data = { ...about, gateway: this.#gateway };
    // Gateways that cannot reach each other create the same event within a minute, so that endpoints can deduplicate
    // it.
    if (sight === 'state') {
      const identity = `${Math.floor(at / MINUTE)}`;
      return { type: 'state.down', at, data, identity, once: onceOf(`state.down ${identity}`, at + HOUR), apart: true };
    }
    // For an hour: a gateway that crashed during the outage never reports it up.
    return { type: 'upstream.down', at, data, identity: `${name} ${at}`, once: onceOf(`${name} away`, at + HOUR) };
  }

  #back(name: string, { sight, at, about }: Sighting, since: number): WebhookEvent {
    const type: WebhookType = sight === 'state' ? 'state.up' : 'upstream.up';
    const kept = Object.fromEntries(Object.entries(about).filter(([field]) => ['upstream', 'store'].includes(field)));
    const data = { ...kept, since: timeOf(since), duration: Math.max(0, at - since), gateway: this.#gateway };
    const once = { name: `${name} back`, since, until: at + WEEK, ends: `${name} away` };
    return { type, at, data, identity: `${name} ${at}`, once };
  }
}

function onceOf(name: string, until: number) {
  return { name, since: 0, until };
}
