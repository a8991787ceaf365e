import type { Task } from '../../../src/admin/call.ts';
import type { Config } from '../../../src/config/config.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import type { Event } from '../../../src/observe/events.ts';
import { type Machine, Process } from '../world/machine.ts';
import type { World } from '../world/world.ts';
import { openProcess, type Running } from './process.ts';
import type { Reply, Request } from './traffic.ts';

/** Milliseconds: the longest wait for requests at a stop, and between two looks. */
const DRAIN = 10_000;
const LOOK = 50;

/** Milliseconds from a client to a gateway, one way. */
export const CLIENT_DELAY = 0.3;

/** An answer and its true times; `status` 0: the connection ended without a response. */
export interface Answered extends Reply {
  readonly gateway: string;
  readonly sentAt: number;
  readonly respondedAt: number;
}

const NOTHING = { status: 0, code: null, retryAfter: null, admission: null, subject: null };

/** The message of a call to a gateway that is down. */
export const NOT_RUNNING = 'the gateway does not run';

type Operations = Running['operations'];

/**
 * A gateway on a machine, through all its processes: it is started, killed, stopped and started
 * again.
 */
export class Gateway {
  readonly name: string;
  readonly machine: Machine;
  readonly #world: World;
  readonly #configOf: () => Config;
  readonly #heard: (process: string, event: Event) => void;
  #starts = 0;
  #requests = 0;
  /** Takes no more requests. */
  #closing: Process | null = null;
  process: Process | null = null;
  running: Running | null = null;
  /** Requests without an answer yet. */
  open = 0;

  constructor(
    world: World,
    machine: Machine,
    configOf: () => Config,
    received: (process: string, event: Event) => void = () => {},
  ) {
    this.#world = world;
    this.machine = machine;
    this.name = machine.name;
    this.#configOf = configOf;
    this.#heard = received;
  }

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** Rejects if the gateway does not start. */
  async start(): Promise<void> {
    const world = this.#world;
    const process = new Process(`${this.name}/${++this.#starts}`, this.machine, world.now);
    this.process = process;
    const received = (event: Event) => this.#heard(process.name, event);
    const trueTime = () => world.now;
    const parts = { name: process.name, config: this.#configOf(), heard: received, trueTime };
    const running = await world.as(process, () => openProcess(parts));
    if (process.isAlive) this.running = running;
  }

  /** `kill -9`: what was written stays. */
  kill(): void {
    this.process?.kill();
    this.process = null;
    this.running = null;
  }

  /**
   * SIGSTOP, or with `isMachine` a suspended machine, whose monotonic clock does not run either.
   */
  stop(): void {
    if (this.process) this.process.isStopped = true;
  }

  resume(): void {
    if (this.process?.isStopped) this.#world.resume(this.process);
  }

  /** A clean stop. */
  async end(): Promise<void> {
    const { process, running } = this;
    if (!process || !running) return;
    this.running = null;
    // As a gateway does: requests that it has taken end before it closes.
    for (let remaining = DRAIN; this.open > 0 && remaining > 0; remaining -= LOOK)
      await this.#world.sleep(LOOK);
    this.#closing = process;
    await this.#world
      .as(process, () => running.close())
      // A killed process has closed its files.
      .catch((error: unknown) => {
        if (process.isAlive) throw error;
      });
    this.kill();
  }

  usePlans(plans: Plans): void {
    const { process, running } = this;
    if (process && running) this.#world.as(process, () => running.usePlans(plans));
  }

  /** Sends a request; resolves with its answer, or with status 0. */
  send(request: Request): Promise<Answered> {
    const world = this.#world;
    const { process, running } = this;
    const sentAt = world.now;
    return new Promise((resolve) => {
      this.open++;
      const end = (response: Reply) => {
        this.open--;
        resolve({ ...response, gateway: this.name, sentAt, respondedAt: world.now });
      };
      if (!process || !running) {
        world.packet(CLIENT_DELAY, null, () => end({ ...NOTHING, decidedAt: world.now }));
        return;
      }
      const forget = process.whenEnded(() =>
        world.packet(CLIENT_DELAY, null, () => end({ ...NOTHING, decidedAt: world.now })),
      );
      const answered = (response: Reply) => {
        forget();
        world.packet(CLIENT_DELAY, null, () => end(response));
      };
      const work = () => {
        // Its connections are cut off: nothing is admitted that the close would not store.
        if (this.#closing === process) answered({ ...NOTHING, decidedAt: world.now });
        else void running.traffic.handle(request, answered).catch((error) => world.fail(error));
      };
      world.packet(CLIENT_DELAY, process, work);
    });
  }

  /** A call of the admin API. Rejects as the operation does. */
  async operate<Name extends keyof Operations>(
    name: Name,
    given: Partial<Task> = {},
  ): Promise<Awaited<ReturnType<Operations[Name]>>> {
    const { process, running } = this;
    if (!process || !running) throw new Error(NOT_RUNNING);
    const now = Math.floor(this.machine.wallAt(this.#world.now));
    const task: Task = {
      actor: 'operator',
      reason: null,
      idempotent: null,
      path: {},
      query: {},
      body: {},
      requestId: `${this.name}-${++this.#requests}`,
      now,
      ...given,
    };
    const run = running.operations[name] as (task: Task) => ReturnType<Operations[Name]>;
    try {
      return await this.#world.as(process, () => run(task));
    } catch (error) {
      // A killed process has closed its files.
      throw process.isAlive ? error : new Error(NOT_RUNNING);
    }
  }

  /** Runs `work` as code of this gateway. */
  within<T>(work: (running: Running) => T): T {
    return this.#world.as(this.process, () => work(this.running!));
  }
}
