import { DAY, HOUR, MINUTE } from '../common/time.ts';
import { type Data, timeOf, type WebhookEvent, type WebhookType } from './event.ts';

const WEEK = 7 * DAY;

/** One process of this gateway sees that something is away, or back. Plain values, as `Told`. */
export interface Sighting {
  readonly sight: 'store' | 'state';
  /** What it is: nothing for the state, upstream and store for a store. */
  readonly name: string;
  readonly isAway: boolean;
  /** Unix milliseconds. */
  readonly at: number;
  /** What the event says of it. */
  readonly about: Data;
}

interface Incident {
  readonly last: Sighting;
  readonly since: number;
  /** The processes that see it; `null`: this one. */
  readonly by: Set<number | null>;
}

/** Makes one event of what several processes of a gateway see: it is away when the first says so, and back when the last does. */
export class Incidents {
  readonly #gateway: string;
  readonly #open = new Map<string, Incident>();

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  see(sighting: Sighting, process: number | null): WebhookEvent | null {
    const name = `${sighting.sight} ${sighting.name}`;
    const incident = this.#open.get(name);
    if (sighting.isAway) {
      if (incident) incident.by.add(process);
      else this.#open.set(name, { last: sighting, since: sighting.at, by: new Set([process]) });
      return incident ? null : this.#away(name, sighting);
    }
    if (!incident?.by.delete(process) || incident.by.size > 0) return null;
    this.#open.delete(name);
    return this.#back(name, sighting, incident.since);
  }

  /** A process has ended: what it alone saw away is seen anew by the one that takes its place. */
  forget(process: number, at: number): WebhookEvent[] {
    return [...this.#open.values()].flatMap(({ last }) => this.see({ ...last, isAway: false, at }, process) ?? []);
  }

  #away(name: string, { sight, at, about }: Sighting): WebhookEvent {
    const data = { ...about, gateway: this.#gateway };
    // Gateways that cannot ask each other make the same of one minute, so that receivers can tell.
    if (sight === 'state') {
      const identity = `${Math.floor(at / MINUTE)}`;
      return { type: 'state.down', at, data, identity, once: onceOf(`state.down ${identity}`, at + HOUR), apart: true };
    }
    // For an hour: a gateway that died while it saw the store away never says that it is back.
    return { type: 'upstream.down', at, data, identity: `${name} ${at}`, once: onceOf(`${name} away`, at + HOUR) };
  }

  /** Whoever is the first to see it back tells it for all who saw it away meanwhile. */
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
