import { type FindingType, plural } from '@storegate/admin-api/words';
import { MINUTE, notFuture } from '../common/time.ts';
import type { Upstreams } from '../gateway/upstream/backends.ts';
import type { Event } from '../observe/events.ts';
import { reasonOf } from '../observe/log-table.ts';
import type {
  Condition,
  ProcessReadiness,
  ProcessStatus,
} from '../observe/peers/status.ts';
import type { Storage } from '../records/storage.ts';
import { RecentTraffic } from './recent-traffic.ts';

const NEWEST = 0.05;

/** Milliseconds after its last loss for which a process reports it. */
const LOSS_MEMORY = 5 * MINUTE;

type Begun = Condition & { since: number };

/** What the process could not store, in total since its start. */
export interface Losses {
  readonly logLines: number;
  readonly requests: number;
}

/** Gathers what a process knows of its health; `judgeHealth` judges it. */
export class ProcessHealth {
  readonly #clock: () => number;
  #localSince: number | null = null;
  #stateTime: number | null = null;
  #lostBans = 0;
  readonly #traffic = new RecentTraffic();
  /** By a name for what ends it. */
  readonly #conditions = new Map<string, Begun>();
  readonly #lines = new Loss('log_dropped', 'line');
  readonly #requests = new Loss('usage_dropped', 'request');
  readonly #bans = new Loss('bans_dropped', 'ban');

  /** `clock`: Unix milliseconds, shared by the listeners of an event. */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get ofState(): Pick<ProcessStatus, 'localSince' | 'stateTime'> {
    if (this.#localSince !== null)
      this.#localSince = notFuture(this.#localSince, Date.now());
    return { localSince: this.#localSince, stateTime: this.#stateTime };
  }

  report({
    logLines,
    requests,
  }: Losses): Pick<ProcessStatus, 'conditions' | 'traffic'> {
    const now = Date.now();
    for (const condition of this.#conditions.values())
      condition.since = notFuture(condition.since, now);
    const conditions = [
      ...this.#conditions.values(),
      ...this.#lines.report(logLines, now),
      ...this.#requests.report(requests, now),
      ...this.#bans.report(this.#lostBans, now),
    ];
    return { conditions, traffic: this.#traffic.sum(this.#clock()) };
  }

  readonly observe = (event: Event): void => {
    switch (event.type) {
      case 'request':
        this.#traffic.count(event, this.#clock());
        break;
      case 'state.answered':
        this.#stateTime = mean(this.#stateTime, event.duration);
        break;
      case 'state.outage':
        this.#localSince ??= Date.now();
        this.#begin(
          'outage',
          `redis_down_${event.policy}` as FindingType,
          event.error,
        );
        break;
      case 'state.recovered':
        this.#localSince = null;
        this.#conditions.delete('outage');
        break;
      case 'state.connection':
        if (event.isCut) this.#begin(event.of, 'redis_connection');
        else this.#conditions.delete(event.of);
        break;
      case 'state.write_failed':
        this.#begin('writes', 'unsaved', event.error);
        break;
      case 'state.write_recovered':
        this.#conditions.delete('writes');
        break;
      case 'primary.unresponsive':
        this.#begin('guard', 'guard_alone', event.error);
        break;
      case 'primary.responsive':
        this.#conditions.delete('guard');
        break;
      case 'ban_log.dropped':
        this.#lostBans += event.count;
        break;
    }
  };

  #begin(name: string, type: FindingType, error?: unknown): void {
    const since = this.#conditions.get(name)?.since ?? Date.now();
    const detail = error === undefined ? '' : reasonOf(error);
    this.#conditions.set(name, { type, since, detail });
  }
}

/** A loss is noticed when it is read, and reported until `LOSS_MEMORY` after the last. */
class Loss {
  readonly #type: FindingType;
  readonly #unit: string;
  /** Before the losses that are reported. */
  #before = 0;
  #total = 0;
  #since = 0;
  #last = 0;

  constructor(type: FindingType, unit: string) {
    this.#type = type;
    this.#unit = unit;
  }

  /** `total`: since the start; `now`: Unix milliseconds. */
  report(total: number, now: number): Condition[] {
    this.#since = notFuture(this.#since, now);
    this.#last = notFuture(this.#last, now);
    if (now - this.#last > LOSS_MEMORY) this.#before = this.#total;
    if (total > this.#total) {
      if (this.#total === this.#before) this.#since = now;
      this.#last = now;
      this.#total = total;
    }
    const lost = this.#total - this.#before;
    if (lost === 0) return [];
    const detail = plural(lost, this.#unit);
    return [{ type: this.#type, since: this.#since, detail }];
  }
}

function mean(before: number | null, newest: number): number {
  return before === null ? newest : before + NEWEST * (newest - before);
}

export function readinessOf(
  storage: Pick<Storage, 'ready'>,
  { ofState }: Pick<ProcessHealth, 'ofState'>,
  {
    down,
    knowsKeys,
  }: { readonly down: Upstreams['down']; readonly knowsKeys: boolean },
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
