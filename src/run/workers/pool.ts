import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { makeTicketSecret } from '@storegate/http1/tls';
import type { Guard } from '../../common/callers/guard.ts';
import type { ServedConfig } from '../../config/config.ts';
import type { Observe } from '../../observe/events.ts';
import { type Figures, lastingFigures } from '../../observe/exposition.ts';
import type { Parts } from '../../observe/peers/query.ts';
import type { Processes, ProcessesParts } from '../processes.ts';
import type { ActiveConfig } from '../reload.ts';
import { WorkersError } from './channel.ts';
import { WorkerHandle } from './handle.ts';
import { packed, type StartOrder, shareOf } from './protocol.ts';
import { SharedSocket } from './socket.ts';

/** Milliseconds, doubled each time. */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 30_000;
/** Milliseconds in which a supervisor's SIGTERM reaches all processes. */
const SIGNALLING = 200;
/** Milliseconds. */
const SETTLED = 10_000;

interface WorkerPoolParts
  extends Pick<ProcessesParts, 'settings' | 'gateway' | 'onDetection'> {
  readonly guard: Guard;
  readonly observe: Observe;
}

export class WorkerPool {
  readonly #parts: WorkerPoolParts;
  readonly #size: number;
  readonly #handles = new Map<number, WorkerHandle>();
  readonly #stop = new AbortController();
  readonly #killAll = () => this.kill();
  readonly #ticketSecret = makeTicketSecret();
  readonly #socket = new SharedSocket();
  #url = '';
  #fd: number | undefined;
  #settings: ActiveConfig<ServedConfig>;
  #retired: Promise<Figures> = Promise.resolve([]);
  #kept: Promise<void>[] = [];

  constructor(parts: WorkerPoolParts) {
    this.#parts = parts;
    this.#settings = parts.settings;
    this.#size = parts.settings.config.workers;
  }

  get serving(): number {
    return this.#serving().length;
  }

  get readiness(): ReturnType<Processes['readiness']> {
    const all = this.#serving().map((handle) => handle.readiness);
    const worst = all.find(({ readiness }) => readiness !== 'ready') ?? all[0];
    return {
      readiness: worst?.readiness ?? 'no_workers',
      down: [...new Set(all.flatMap(({ down }) => down))],
    };
  }

  /** Rejects, with all workers ended, if one cannot start. */
  async start(fd?: number): Promise<string> {
    this.#fd = fd;
    // Unlike JSON, structured clone keeps the types of a configuration.
    cluster.setupPrimary({
      exec: resolve(import.meta.dirname, 'worker.ts'),
      args: [],
      serialization: 'advanced',
    });
    process.once('exit', this.#killAll);
    const handles = Array.from({ length: this.#size }, (_, i) =>
      this.#fork(i + 1),
    );
    try {
      const urls = await Promise.all(
        handles.map((handle) => this.#begin(handle)),
      );
      this.#kept = handles.map((handle) => this.#keep(handle));
      this.#url = urls[0]!;
      return this.#url;
    } catch (error) {
      this.kill();
      await Promise.all(handles.map(({ ended }) => ended));
      throw error;
    }
  }

  /** A worker that fails is replaced by one that starts with the settings. */
  async use(settings: ActiveConfig<ServedConfig>): Promise<void> {
    this.#settings = settings;
    const sent = this.#sent();
    await Promise.all(
      [...this.#handles.values()].map((handle) =>
        handle
          .use(sent)
          .catch((error: Error) =>
            handle.giveUp(
              `did not take the new configuration: ${error.message}`,
            ),
          ),
      ),
    );
  }

  /** A worker that does not respond in time appears with its last metrics. */
  async figures(): Promise<readonly Figures[]> {
    await Promise.all(
      this.#serving().map((handle) => handle.refresh().catch(() => {})),
    );
    // Both in one turn, so that a worker that ends meanwhile counts once.
    const figures = [...this.#handles.values()].map((handle) => handle.figures);
    return [await this.#retired, ...figures];
  }

  /** In the order of worker numbers. */
  async ask(question: string, argument: unknown): Promise<Parts<unknown>> {
    const serving = this.#serving().sort(
      (one, other) => one.number - other.number,
    );
    const asked = await Promise.allSettled(
      serving.map((handle) => handle.ask(question, argument)),
    );
    const parts = asked.flatMap((one) =>
      one.status === 'fulfilled' ? [one.value] : [],
    );
    // A worker that ended counts as missing until its replacement serves.
    return { parts, missing: Math.max(0, this.#size - parts.length) };
  }

  async drain(): Promise<number> {
    this.#stop.abort();
    const cutOff = await Promise.all(
      [...this.#handles.values()].map((handle) => this.#drain(handle, true)),
    );
    await Promise.all(this.#kept);
    process.off('exit', this.#killAll);
    return cutOff.reduce((sum, count) => sum + count, 0);
  }

  kill(): void {
    this.#stop.abort();
    for (const handle of this.#handles.values()) handle.kill();
  }

  #drain(handle: WorkerHandle, accepting: boolean): Promise<number> {
    const { drainDelay, drainTimeout } = this.#settings.config.http;
    return handle.drain(drainDelay + drainTimeout, { accepting });
  }

  /** After a SIGTERM to that worker. */
  async #letLeave(leaving: WorkerHandle): Promise<void> {
    // New connections need a worker: the last one stays until another has started.
    const isLast = () =>
      !this.#serving().some((handle) => handle !== leaving && handle.accepts);
    do {
      if (!(await this.#waited(SIGNALLING))) return;
    } while (isLast());
    await this.#drain(leaving, false);
  }

  #serving(): WorkerHandle[] {
    return [...this.#handles.values()].filter(({ serves }) => serves);
  }

  #sent(): StartOrder['settings'] {
    return packed({
      ...this.#settings,
      config: shareOf(this.#settings.config, this.#size),
    });
  }

  #fork(number: number): WorkerHandle {
    const { guard, gateway, onDetection } = this.#parts;
    const handle: WorkerHandle = new WorkerHandle(number, cluster.fork(), {
      fail: guard.fail,
      look: guard.look,
      ask: ({ question, argument }) => gateway.ask(question, argument),
      webhook: (detection) => onDetection(detection, number),
      leave: () => void this.#letLeave(handle),
      closeShared: () =>
        this.#socket.close(
          Number(this.#url.slice(this.#url.lastIndexOf(':') + 1)),
          this.#fd !== undefined,
        ),
    });
    this.#handles.set(number, handle);
    return handle;
  }

  async #begin(handle: WorkerHandle): Promise<string> {
    const { number, pid } = handle;
    const url = await handle.start({
      worker: number,
      workers: this.#size,
      fd: this.#fd,
      settings: this.#sent(),
      ticketSecret: this.#ticketSecret,
    });
    this.#parts.observe({ type: 'worker.started', worker: number, pid });
    return url;
  }

  async #keep(first: WorkerHandle): Promise<void> {
    let earlyEndings = 0;
    for (let handle = first; ; ) {
      const { reason, unexpected } = await handle.ended;
      this.#retire(handle);
      const { number: worker, pid, servedFor } = handle;
      const stopping = this.#stop.signal.aborted;
      earlyEndings = unexpected && servedFor < SETTLED ? earlyEndings + 1 : 0;
      const wait =
        earlyEndings === 0
          ? 0
          : Math.min(FIRST_WAIT * 2 ** (earlyEndings - 1), LONGEST_WAIT);
      if (unexpected || !stopping) {
        const replacedAfter = stopping ? null : wait;
        this.#parts.observe({
          type: 'worker.ended',
          worker,
          pid,
          reason,
          unexpected,
          replacedAfter,
        });
      }
      if (!(await this.#waited(wait))) return;
      // node:cluster has closed the inherited socket. The supervisor still has it, and starts a new
      // gateway.
      if (
        this.#fd !== undefined &&
        !this.#serving().some(({ accepts }) => accepts)
      )
        throw new WorkersError(
          'the inherited socket is lost, because all workers have ended',
        );
      handle = this.#fork(worker);
      const next = handle;
      void this.#begin(next).catch((error: Error) =>
        next.giveUp(`could not start: ${error.message}`),
      );
    }
  }

  async #waited(milliseconds: number): Promise<boolean> {
    const { signal } = this.#stop;
    if (signal.aborted) return false;
    await setTimeout(milliseconds, undefined, { signal }).catch(() => {});
    return !signal.aborted;
  }

  /** A falling metric would look like a restart of the whole gateway. */
  #retire(handle: WorkerHandle): void {
    if (this.#handles.get(handle.number) === handle)
      this.#handles.delete(handle.number);
    const { figures } = handle;
    this.#retired = this.#retired.then((retired) =>
      lastingFigures([retired, figures]),
    );
  }
}
