import { AsyncLocalStorage } from 'node:async_hooks';
import type { Process, Work } from './machine.ts';
import { EventQueue, isBefore, type Planned } from './queue.ts';
import { Random } from './random.ts';

// The simulation replaces the globals while it runs.
const { setImmediate } = globalThis;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Milliseconds of true time at which every run begins. */
export const BEGIN = Date.UTC(2026, 0, 1);
/** Milliseconds before and after an action that are simulated event by event. */
const SETTLE = 4_000;
/** Milliseconds without an action from which a stretch is skipped. */
const IDLE = 3 * SETTLE;
const KINDS = ['action', 'packet', 'timer'] as const;
type Kind = (typeof KINDS)[number];
/** Events at one moment: more are a loop that never waits. */
const MOST_AT_ONCE = 200_000;

/**
 * Virtual time: events of three kinds in one order. Actions are what clients, operators and faults do;
 * packets are everything under way between processes, disks and Redis; timers are those of the
 * processes. A stretch without actions is skipped: all clocks jump, and each timer that is due fires
 * once, late, as after a pause of all machines.
 */
export class World {
  readonly random: Random;
  readonly trace: string[] = [];
  readonly #running = new AsyncLocalStorage<Process | null>();
  readonly #queues = {
    action: new EventQueue(),
    packet: new EventQueue(),
    timer: new EventQueue(),
  };
  readonly #failures: unknown[] = [];
  #order = 0;
  #lastActAt = BEGIN;
  /** Unix milliseconds of true time. */
  now = BEGIN;
  events = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
  }

  /** The process whose code runs; `null`: the simulation itself. */
  get process(): Process | null {
    return this.#running.getStore() ?? null;
  }

  get wall(): number {
    return this.process?.machine.wallAt(this.now) ?? this.now;
  }

  get monotonic(): number {
    return this.process?.monotonicAt(this.now) ?? this.now - BEGIN;
  }

  get timeOrigin(): number {
    return this.process?.timeOrigin ?? BEGIN;
  }

  note(who: string, text: string): void {
    const seconds = ((this.now - BEGIN) / 1_000).toFixed(3).padStart(11);
    this.trace.push(`${seconds}  ${who.padEnd(9)} ${text}`);
  }

  /** Runs `work` as code of `process`. */
  as<T>(process: Process | null, work: () => T): T {
    return this.#running.run(process, work);
  }

  /** Plans an action of the world around the processes. */
  schedule(delay: number, work: Work): Planned {
    const begin = () => {
      this.#lastActAt = this.now;
      this.as(null, work);
    };
    return this.#plan('action', delay, begin);
  }

  /** An action that ends `duration` milliseconds later. */
  sleep(duration: number): Promise<void> {
    return new Promise((resolve) => void this.schedule(duration, resolve));
  }

  /** Plans something that reaches `owner`; `null`: no process of the simulation. */
  packet(delay: number, owner: Process | null, work: Work): Planned {
    return this.#plan('packet', delay, () => this.deliver(owner, work));
  }

  timer(delay: number, work: Work): Planned {
    const owner = this.process;
    return this.#plan('timer', delay, () => this.deliver(owner, work));
  }

  /** A killed process gets nothing; a stopped one gets it when it is resumed. */
  deliver(owner: Process | null, work: Work): void {
    if (owner?.isStopped) owner.held.push(work);
    else if (owner === null || owner.isAlive) this.as(owner, work);
  }

  resume(process: Process): void {
    process.isStopped = false;
    for (const work of process.held.splice(0)) this.packet(0, process, work);
  }

  /** An error that the code of a process let escape. */
  fail(error: unknown): void {
    this.#failures.push(error);
  }

  /**
   * Runs until the true time `end`. Rejects with the first error that the code of a process let
   * escape.
   */
  async run(end: number): Promise<void> {
    let atOnce = 0;
    for (;;) {
      this.#skip(end);
      const next = this.#next();
      if (next === null || next.event.at > end) break;
      this.#queues[next.kind].take();
      if (next.event.at > this.now) atOnce = 0;
      else if (++atOnce > MOST_AT_ONCE) throw new Error('the simulation does not advance');
      this.now = Math.max(this.now, next.event.at);
      this.events++;
      next.event.work();
      await turn();
      if (this.#failures.length > 0) throw this.#failures[0];
    }
    this.now = Math.max(this.now, end);
  }

  /** Runs for `duration` milliseconds. */
  pass(duration: number): Promise<void> {
    return this.run(this.now + duration);
  }

  /** Runs until `work` has settled, at most `patience` milliseconds. */
  async settle<T>(work: Promise<T>, patience = 60_000): Promise<T> {
    let isSettled = false;
    const settled = work.finally(() => {
      isSettled = true;
    });
    settled.catch(() => {});
    const end = this.now + patience;
    await turn();
    while (!isSettled && this.now < end) {
      const next = this.#next();
      await this.run(Math.min(end, Math.max(next?.event.at ?? end, this.now)));
    }
    if (!isSettled) throw new Error(`nothing came of it in ${patience} ms`);
    return settled;
  }

  #plan(kind: Kind, delay: number, work: Work): Planned {
    const event = { at: this.now + delay, order: this.#order++, isCancelled: false, work };
    this.#queues[kind].push(event);
    return event;
  }

  #next(): { readonly kind: Kind; readonly event: Planned } | null {
    let first: { kind: Kind; event: Planned } | null = null;
    for (const kind of KINDS) {
      const event = this.#queues[kind].peek();
      if (event !== null && (first === null || isBefore(event, first.event)))
        first = { kind, event };
    }
    return first;
  }

  /** Lets the time jump close to the next action if none was for a while and nothing is under way. */
  #skip(end: number): void {
    const next = Math.min(this.#queues.action.peek()?.at ?? Number.POSITIVE_INFINITY, end);
    const isIdle = this.now >= this.#lastActAt + SETTLE && next > this.now + IDLE;
    if (isIdle && this.#queues.packet.peek() === null) this.now = next - SETTLE;
  }
}
