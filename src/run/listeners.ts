import type { Config } from '../config/config.ts';
import { type Observe, toAll } from '../observe/events.ts';
import { Recorder } from '../observe/history/recorder.ts';
import type { Log } from '../observe/log.ts';
import { createMetrics, type Metrics } from '../observe/metrics.ts';
import { oneMoment } from '../observe/moment.ts';
import { Peaks } from '../observe/peaks/peaks.ts';
import { RecentRequests } from '../observe/request-log/recent.ts';
import { Top } from '../observe/top/top.ts';
import { receiverOf } from '../observe/tracing/receiver.ts';
import { openTracing, type Tracing } from '../observe/tracing/tracing.ts';
import type { Standing } from './standing.ts';

export interface ListenerParts {
  readonly config: Pick<Config, 'explain' | 'tracing'>;
  /** The number of the worker; `null`: it is the gateway's only process. */
  readonly worker: number | null;
  readonly clock: () => number;
  readonly log: Log;
  readonly standing: Standing;
  readonly gauges: Parameters<typeof createMetrics>[0];
  readonly stores: Parameters<typeof createMetrics>[1];
  /** Takes each minute that has ended. */
  readonly minute: ConstructorParameters<typeof Recorder>[1];
  /** Further listeners. */
  readonly others: readonly Observe[];
}

/** What listens to the events of a process that carries requests. */
export interface Listeners {
  readonly metrics: Metrics;
  readonly recent: RecentRequests;
  readonly top: Top;
  readonly peaks: Peaks;
  readonly recorder: Recorder;
  /** `null`: no spans. */
  readonly tracing: Tracing | null;
  /** Passes an event to all of them. */
  readonly observe: Observe;
}

/** The same listeners for a worker as for the gateway's only process. The caller closes the recorder and the tracing. */
export async function openListeners(parts: ListenerParts): Promise<Listeners> {
  const { config, worker, clock, log, standing, gauges, stores, minute, others } = parts;
  const moment = oneMoment(clock);
  const listeners = {
    metrics: createMetrics(gauges, stores, { exemplars: receiverOf(config.tracing) !== null }),
    recent: new RecentRequests(config.explain, { worker }),
    top: new Top(moment.clock),
    peaks: new Peaks(moment.clock),
    recorder: new Recorder(moment.clock, minute),
    tracing: await openTracing(config.tracing, { worker, observe: (event) => observe(event) }),
  };
  const heard = [log, standing, ...Object.values(listeners).filter((one) => one !== null)];
  const observe = moment.of(toAll(...heard.map((one) => one.observe), ...others));
  return { ...listeners, observe };
}
