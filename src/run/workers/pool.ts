import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeTicketSecret } from '@storegate/http1/tls';
import type { ServedConfig } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { type Figures, lastingFigures } from '../../observe/exposition.ts';
import type { Parts } from '../../observe/peers/query.ts';
import type { Processes, ProcessesParts } from '../processes.ts';
import type { ActiveConfig } from '../reload.ts';
import { WorkersError } from './channel.ts';
import { createWorkerHandle, type WorkerHandle } from './handle.ts';
import { packed, type StartOrder, shareOf } from './protocol.ts';
import { createSharedSocket } from './socket.ts';

/** Milliseconds, doubled each time. */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 30_000;
/** Milliseconds in which a supervisor's SIGTERM reaches all processes. */
const SIGNALLING = 200;
/** Milliseconds. */
const SETTLED = 10_000;

interface WorkerPoolParts
  extends Pick<ProcessesParts, 'settings' | 'gateway' | 'onDetection'> {
  readonly observe: Observe;
}

export function createWorkerPool(parts: WorkerPoolParts) {
  const handles = new Map<number, WorkerHandle>();
  const stop = new AbortController();
  const ticketSecret = makeTicketSecret();
  const socket = createSharedSocket();
  let url = '';
  let inherited: number | undefined;
  let retired: Promise<Figures> = Promise.resolve([]);
  let kept: Promise<void>[] = [];
  let { settings } = parts;
  const size = settings.config.workers;

  return {
    get serving(): number {
      return serving().length;
    },
    get readiness(): ReturnType<Processes['readiness']> {
      const all = serving().map((handle) => handle.readiness);
      const worst =
        all.find(({ readiness }) => readiness !== 'ready') ?? all[0];
      return {
        readiness: worst?.readiness ?? 'no_workers',
        down: [...new Set(all.flatMap(({ down }) => down))],
      };
    },
    /** Rejects, with all workers ended, if one cannot start. */
    async start(fd?: number): Promise<string> {
      inherited = fd;
      // Unlike JSON, structured clone keeps the types of a configuration.
      cluster.setupPrimary({
        exec: resolve(import.meta.dirname, 'worker.ts'),
        args: [],
        serialization: 'advanced',
      });
      process.once('exit', kill);
      const first = Array.from({ length: size }, (_, i) => fork(i + 1));
      try {
        const urls = await Promise.all(first.map(begin));
        kept = first.map(keep);
        url = urls[0]!;
        return url;
      } catch (error) {
        kill();
        await Promise.all(first.map(({ ended }) => ended));
        throw error;
      }
    },
    /** A worker that fails is replaced by one that starts with the settings. */
    async use(next: ActiveConfig<ServedConfig>): Promise<void> {
      settings = next;
      const packed = sent();
      await Promise.all(
        [...handles.values()].map((handle) =>
          handle
            .use(packed)
            .catch((error: Error) =>
              handle.giveUp(
                `did not take the new configuration: ${error.message}`,
              ),
            ),
        ),
      );
    },
    /** A worker that does not respond in time appears with its last metrics. */
    async figures(): Promise<readonly Figures[]> {
      await Promise.all(
        serving().map((handle) => handle.refresh().catch(() => {})),
      );
      // Both in one turn, so that a worker that ends meanwhile counts once.
      const figures = [...handles.values()].map((handle) => handle.figures);
      return [await retired, ...figures];
    },
    /** In the order of worker numbers. */
    async ask(question: string, argument: unknown): Promise<Parts<unknown>> {
      const parts = await ofAll((handle) => handle.ask(question, argument));
      // A worker that ended counts as missing until its replacement serves.
      return { parts, missing: Math.max(0, size - parts.length) };
    },
    usage: () => ofAll((handle) => handle.usage()),
    bans: () => ofAll((handle) => handle.bans()),
    drain,
  };

  /** Of the workers that respond. */
  async function ofAll<T>(
    ask: (handle: WorkerHandle) => Promise<T>,
  ): Promise<T[]> {
    const all = serving().sort((one, other) => one.number - other.number);
    const results = await Promise.allSettled(all.map(ask));
    return results.flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    );
  }

  async function drain(): Promise<number> {
    stop.abort();
    const cutOff = await Promise.all(
      [...handles.values()].map((handle) => drainOne(handle, true)),
    );
    await Promise.all(kept);
    process.off('exit', kill);
    return cutOff.reduce((sum, count) => sum + count, 0);
  }

  function kill(): void {
    stop.abort();
    for (const handle of handles.values()) handle.kill();
  }

  function drainOne(handle: WorkerHandle, accepting: boolean): Promise<number> {
    const { drainDelay, drainTimeout } = settings.config.http;
    return handle.drain(drainDelay + drainTimeout, { accepting });
  }

  /** After a SIGTERM to that worker. */
  async function letLeave(leaving: WorkerHandle): Promise<void> {
    // New connections need a worker: the last one stays until another has started.
    const isLast = () =>
      !serving().some((handle) => handle !== leaving && handle.accepts);
    do {
      if (!(await waited(SIGNALLING))) return;
    } while (isLast());
    await drainOne(leaving, false);
  }

  function serving(): WorkerHandle[] {
    return [...handles.values()].filter(({ serves }) => serves);
  }

  function sent(): StartOrder['settings'] {
    const { config, certificates, apis } = settings;
    return packed({
      config: shareOf(config, size),
      certificates,
      prepared: apis.map(({ prepared }) => prepared),
    });
  }

  function fork(number: number): WorkerHandle {
    const { gateway, onDetection } = parts;
    const handle: WorkerHandle = createWorkerHandle(number, cluster.fork(), {
      ask: ({ question, argument }) => gateway.ask(question, argument),
      webhook: (detection) => onDetection(detection, number),
      leave: () => void letLeave(handle),
      closeShared: () =>
        socket.close(
          Number(url.slice(url.lastIndexOf(':') + 1)),
          inherited !== undefined,
        ),
    });
    handles.set(number, handle);
    return handle;
  }

  async function begin(handle: WorkerHandle): Promise<string> {
    const { number, pid } = handle;
    const url = await handle.start({
      worker: number,
      workers: size,
      fd: inherited,
      settings: sent(),
      ticketSecret,
    });
    parts.observe({ type: 'worker.started', worker: number, pid });
    return url;
  }

  async function keep(first: WorkerHandle): Promise<void> {
    let earlyEndings = 0;
    for (let handle = first; ; ) {
      const { reason, unexpected } = await handle.ended;
      retire(handle);
      const { number: worker, pid, servedFor } = handle;
      const stopping = stop.signal.aborted;
      earlyEndings = unexpected && servedFor < SETTLED ? earlyEndings + 1 : 0;
      const wait =
        earlyEndings === 0
          ? 0
          : Math.min(FIRST_WAIT * 2 ** (earlyEndings - 1), LONGEST_WAIT);
      if (unexpected || !stopping) {
        const replacedAfter = stopping ? null : wait;
        parts.observe({
          type: 'worker.ended',
          worker,
          pid,
          reason,
          unexpected,
          replacedAfter,
        });
      }
      if (!(await waited(wait))) return;
      // node:cluster has closed the inherited socket. The supervisor still has it, and starts a new
      // gateway.
      if (inherited !== undefined && !serving().some(({ accepts }) => accepts))
        throw new WorkersError(
          'the inherited socket is lost, because all workers have ended',
        );
      handle = fork(worker);
      const next = handle;
      void begin(next).catch((error: Error) =>
        next.giveUp(`could not start: ${error.message}`),
      );
    }
  }

  async function waited(milliseconds: number): Promise<boolean> {
    const { signal } = stop;
    if (signal.aborted) return false;
    await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  /** A falling metric would look like a restart of the whole gateway. */
  function retire(handle: WorkerHandle): void {
    if (handles.get(handle.number) === handle) handles.delete(handle.number);
    const { figures } = handle;
    retired = retired.then((all) => lastingFigures([all, figures]));
  }
}
