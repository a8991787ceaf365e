import { type FindingType, plural } from '@storegate/admin-api/text';
import { plainReason } from '../common/errors/plain-reason.ts';
import { DAY, HOUR, MINUTE, notFuture } from '../common/time.ts';
import type { Upstreams } from '../gateway/upstream/backends.ts';
import type { Event } from '../observe/events.ts';
import type {
  Condition,
  ProcessReadiness,
  ProcessStatus,
} from '../observe/peers/status.ts';
import type { Storage } from '../records/storage.ts';

const NEWEST = 0.05;

/** Milliseconds after its last loss for which a process reports it. */
const LOSS_MEMORY = 5 * MINUTE;
/** It is not noticed elsewhere. */
const REFUSED_MEMORY = DAY;

type Begun = Condition & { since: number };

/** What the process could not store, in total since its start. */
export interface Losses {
  readonly logLines: number;
  readonly requests: number;
}

/** Gathers what a process knows of its health; `judgeHealth` judges it. */
export function createProcessHealth() {
  let localSince: number | null = null;
  let stateTime: number | null = null;
  let lostBans = 0;
  let refusedUsage = 0;
  let dataLosses = 0;
  /** By a name for what ends it. */
  const begun = new Map<string, Begun>();
  const lines = createLoss('log_dropped', 'line');
  const requests = createLoss('usage_dropped', 'request');
  const bans = createLoss('bans_dropped', 'ban');
  const refused = createLoss('usage_refused', 'event', REFUSED_MEMORY);
  const data = createLoss('redis_data_lost', 'time', HOUR);

  function observe(event: Event): void {
    switch (event.type) {
      case 'state.responded':
        stateTime = mean(stateTime, event.duration);
        break;
      case 'state.outage':
        localSince ??= Date.now();
        begin(
          'outage',
          `redis_down_${event.policy}` as FindingType,
          plainReason(event.error),
        );
        break;
      case 'state.recovered':
        localSince = null;
        begun.delete('outage');
        break;
      case 'state.data_doubted':
        if (event.isDoubted) begin('data', 'redis_data_doubted');
        else begun.delete('data');
        break;
      case 'state.data_lost':
        dataLosses++;
        break;
      case 'state.connection':
        if (event.isCut) begin(event.of, 'redis_connection');
        else begun.delete(event.of);
        break;
      case 'state.write_failed':
        begin('writes', 'unsaved', plainReason(event.error));
        break;
      case 'state.write_recovered':
        begun.delete('writes');
        break;
      case 'usage.export_failed':
        begin('export', 'usage_not_exported', event.error);
        break;
      case 'usage.export_recovered':
        begun.delete('export');
        break;
      case 'usage.export_refused':
        refusedUsage++;
        break;
      case 'ban_log.dropped':
        lostBans += event.count;
        break;
    }
  }

  return {
    observe,
    get ofState(): Pick<ProcessStatus, 'localSince' | 'stateTime'> {
      if (localSince !== null) localSince = notFuture(localSince, Date.now());
      return { localSince, stateTime };
    },
    conditions(losses: Losses): Condition[] {
      const now = Date.now();
      for (const condition of begun.values())
        condition.since = notFuture(condition.since, now);
      return [
        ...begun.values(),
        ...lines(losses.logLines, now),
        ...requests(losses.requests, now),
        ...bans(lostBans, now),
        ...refused(refusedUsage, now),
        ...data(dataLosses, now),
      ];
    },
  };

  function begin(name: string, type: FindingType, detail = ''): void {
    const since = begun.get(name)?.since ?? Date.now();
    begun.set(name, { type, since, detail });
  }
}

export type ProcessHealth = ReturnType<typeof createProcessHealth>;

/** A loss is noticed when it is read, and reported until `memory` milliseconds after the last. */
function createLoss(type: FindingType, unit: string, memory = LOSS_MEMORY) {
  /** Before the losses that are reported. */
  let before = 0;
  let reported = 0;
  let since = 0;
  let last = 0;

  /** `total`: since the start; `now`: Unix milliseconds. */
  return (total: number, now: number): Condition[] => {
    since = notFuture(since, now);
    last = notFuture(last, now);
    if (now - last > memory) before = reported;
    if (total > reported) {
      if (reported === before) since = now;
      last = now;
      reported = total;
    }
    const lost = reported - before;
    if (lost === 0) return [];
    return [{ type, since, detail: plural(lost, unit) }];
  };
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
