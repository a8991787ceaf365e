import { DAY, HOUR, MINUTE, SECOND } from '../common/time.ts';
import { type Data, timeOf, uniqueEvent, type WebhookEvent } from './event.ts';

const WEEK = 7 * DAY;

/** Milliseconds in which the replacement of a worker may detect the outage again. */
export const REDETECTION_TIME = 15 * SECOND;

/** One process's view. Plain values, as WebhookEvent. */
export interface Sighting {
  readonly sight: 'backend' | 'state';
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
  /** Every process that saw it has ended: Unix milliseconds, and monotonic ones. */
  orphaned: { readonly at: number; readonly since: number } | null;
}

/**
 * Merges processes: down with the first, up with the last. Each incident begins and ends once.
 * `monotonic`: milliseconds.
 */
export function createIncidents(
  gateway: string,
  monotonic: () => number = () => performance.now(),
) {
  const open = new Map<string, Incident>();
  /** Outages of the state that began in the last minute with one. */
  let outages = { minute: 0, count: 0 };

  function down(name: string, { sight, at, about }: Sighting): WebhookEvent {
    const data = { ...about, gateway };
    if (sight === 'state') {
      return {
        ...uniqueEvent('state.down', at, outageIdentity(at), at + HOUR, data),
        apart: true,
      };
    }
    // For an hour: a gateway that crashed during the outage never reports it up.
    const once = { name: `${name} away`, since: 0, until: at + HOUR };
    return { type: 'upstream.down', at, data, identity: `${name} ${at}`, once };
  }

  /**
   * Gateways that cannot reach each other create the same identity within a minute, so that
   * endpoints can deduplicate the event. Further outages within the minute are other events.
   */
  function outageIdentity(at: number) {
    const minute = Math.floor(at / MINUTE);
    const count = outages.minute === minute ? outages.count + 1 : 1;
    outages = { minute, count };
    return count === 1 ? `${minute}` : `${minute} ${count}`;
  }

  function back(
    name: string,
    { sight, at, about }: Sighting,
    since: number,
  ): WebhookEvent {
    const { upstream, backend } = about;
    const duration = Math.max(0, at - since);
    const data = {
      upstream,
      backend,
      since: timeOf(since),
      duration,
      gateway,
    };
    const once = {
      name: `${name} back`,
      since,
      until: at + WEEK,
      ends: `${name} away`,
    };
    return {
      type: sight === 'state' ? 'state.up' : 'upstream.up',
      at,
      data,
      identity: `${name} ${at}`,
      once,
    };
  }

  return {
    see(sighting: Sighting, process: number | null): WebhookEvent | null {
      const name = `${sighting.sight} ${sighting.name}`;
      const incident = open.get(name);
      if (sighting.isDown) {
        if (!incident) {
          open.set(name, {
            first: sighting,
            by: new Set([process]),
            orphaned: null,
          });
          return down(name, sighting);
        }
        incident.by.add(process);
        incident.orphaned = null;
        return null;
      }
      if (!incident?.by.delete(process) || incident.by.size > 0) return null;
      open.delete(name);
      return back(name, sighting, incident.first.at);
    },
    /**
     * The process has ended. Incidents that only it saw end with `settle`, unless its replacement
     * sees them too.
     */
    forget(process: number, at: number) {
      for (const incident of open.values()) {
        if (incident.by.delete(process) && incident.by.size === 0)
          incident.orphaned = { at, since: monotonic() };
      }
    },
    /** Ends the incidents that no process has seen for `REDETECTION_TIME`. */
    settle(): WebhookEvent[] {
      const now = monotonic();
      const ended = [...open].filter(
        ([, { orphaned }]) =>
          orphaned !== null && now - orphaned.since >= REDETECTION_TIME,
      );
      return ended.map(([name, { first, orphaned }]) => {
        open.delete(name);
        return back(name, { ...first, at: orphaned!.at }, first.at);
      });
    },
  };
}
