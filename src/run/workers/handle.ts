import type { Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { Figures } from '../../observe/exposition.ts';
import { type ProcessReadiness, status } from '../../observe/peers/status.ts';
import { Channel, type Handlers, NoAnswer, WorkersError } from './channel.ts';
import type {
  LastReport,
  PrimaryCalls,
  SentConfig,
  StartOrder,
  WorkerCalls,
} from './protocol.ts';

/** Milliseconds, on a busy machine. */
const START = 60_000;
const RELOAD = 15_000;
const FIGURES = 1_000;
/** Milliseconds between two health checks; those of all workers begin together. */
const PULSE = 2_000;
const PULSE_ANSWER = 5_000;
/** Not one: after the machine slept, the first deadline is already over. */
const PULSES_MISSED = 2;
/** Milliseconds. */
const LETTING_GO = 5_000;

interface Ending {
  readonly reason: string;
  readonly unexpected: boolean;
}

export class WorkerHandle {
  readonly number: number;
  readonly ended: Promise<Ending>;
  readonly #worker: Worker;
  readonly #channel: Channel<WorkerCalls, PrimaryCalls>;
  #phase: 'starting' | 'serving' | 'leaving' = 'starting';
  #servingSince = Number.POSITIVE_INFINITY;
  #readiness: ProcessReadiness = { readiness: 'ready', down: [] };
  #lastReport: LastReport | null = null;
  #givenUp: string | null = null;
  #figures: Figures = [];
  #drained: Promise<number> | null = null;
  #hasEnded = false;

  constructor(
    number: number,
    worker: Worker,
    answers: Omit<Handlers<PrimaryCalls>, 'readiness'>,
  ) {
    this.number = number;
    this.#worker = worker;
    this.#channel = new Channel<WorkerCalls, PrimaryCalls>({
      peer: `worker ${number}`,
      send: (frame, sent) => void worker.send(frame, sent),
      handlers: {
        ...answers,
        webhook: (detection) => {
          // The last messages may arrive after the exit. What the worker saw ended with it; events
          // did happen.
          if (!this.#hasEnded || !('sight' in detection))
            answers.webhook(detection);
        },
        readiness: (readiness) => {
          this.#readiness = readiness;
        },
      },
    });
    worker.on('message', (message) => this.#channel.receive(message));
    this.ended = this.#end();
  }

  get pid(): number {
    return this.#worker.process.pid ?? 0;
  }

  get serves(): boolean {
    return this.#phase === 'serving';
  }

  get accepts(): boolean {
    return this.serves && this.#drained === null;
  }

  /** Milliseconds; below 0 if it never served. */
  get servedFor(): number {
    return performance.now() - this.#servingSince;
  }

  get readiness(): ProcessReadiness {
    return this.#readiness;
  }

  get figures(): Figures {
    return this.#figures;
  }

  /** Rejects with WorkersError, or with the worker's error if that is a bug. */
  async start(order: StartOrder): Promise<string> {
    try {
      const url = await this.#channel.call('start', order, START);
      this.#phase = 'serving';
      this.#servingSince = performance.now();
      void this.#watch();
      return url;
    } catch (error) {
      throw error instanceof NoAnswer
        ? new WorkersError(error.message, { cause: error })
        : error;
    }
  }

  use(settings: SentConfig): Promise<void> {
    return this.#channel.call('use', settings, RELOAD);
  }

  /** Rejects soon if the worker is busy. */
  ask(question: string, argument: unknown): Promise<unknown> {
    return this.#channel.call('ask', { question, argument }, FIGURES);
  }

  async refresh(): Promise<void> {
    this.#figures = await this.#channel.call('figures', null, FIGURES);
  }

  /** In milliseconds. */
  drain(patience: number, options: DrainOptions): Promise<number> {
    this.#drained ??= this.#drain(patience, options);
    return this.#drained;
  }

  async #drain(patience: number, options: DrainOptions): Promise<number> {
    try {
      if (this.#phase === 'starting')
        this.#lastReport = { cutOff: 0, figures: [] };
      else await this.#finish(patience, options);
      this.kill();
    } catch (error) {
      this.giveUp((error as Error).message);
    }
    await this.ended;
    return this.#lastReport?.cutOff ?? 0;
  }

  async #finish(patience: number, options: DrainOptions): Promise<void> {
    this.#lastReport = await this.#channel.call(
      'drain',
      options,
      patience + LETTING_GO,
    );
    this.#figures = this.#lastReport.figures;
    this.#phase = 'leaving';
    this.#worker.disconnect();
    await Promise.race([
      this.ended,
      setTimeout(LETTING_GO, undefined, { ref: false }),
    ]);
  }

  giveUp(reason: string): void {
    this.#givenUp ??= reason;
    this.kill();
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }

  /** A hung worker would still be handed connections. The pool replaces it. */
  async #watch(): Promise<void> {
    let missed = 0;
    while (this.serves && missed < PULSES_MISSED) {
      await setTimeout(PULSE - (performance.now() % PULSE), undefined, {
        ref: false,
      });
      missed = (await this.#answers()) ? 0 : missed + 1;
    }
    if (this.serves)
      this.giveUp(
        `did not answer for ${(PULSES_MISSED * PULSE_ANSWER) / 1000} s`,
      );
  }

  async #answers(): Promise<boolean> {
    try {
      await this.#channel.call(
        'ask',
        { question: status.name, argument: null },
        PULSE_ANSWER,
      );
      return true;
    } catch (error) {
      return !(error instanceof NoAnswer);
    }
  }

  async #end(): Promise<Ending> {
    const how = await new Promise<string>((resolve) => {
      this.#worker.once('exit', (code, signal) =>
        resolve(signal ? `signal ${signal}` : `code ${code}`),
      );
      // A process that could not be forked never exits. Other errors belong to calls, which reject.
      this.#worker.on(
        'error',
        (error) =>
          this.#worker.process.pid === undefined && resolve(error.message),
      );
    });
    this.#phase = 'leaving';
    this.#hasEnded = true;
    this.#channel.close(how);
    return {
      reason: this.#givenUp ?? how,
      unexpected: this.#lastReport === null || this.#givenUp !== null,
    };
  }
}
