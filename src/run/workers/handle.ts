import type { Worker } from 'node:cluster';
import { setTimeout } from 'node:timers/promises';
import type { DrainOptions } from '../../gateway/wire/listener.ts';
import type { Figures } from '../../observe/exposition.ts';
import { type ProcessReadiness, status } from '../../observe/peers/status.ts';
import {
  createChannel,
  type Handlers,
  NoResponse,
  WorkersError,
} from './channel.ts';
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
const PULSE_RESPONSE = 5_000;
/** Not one: after the machine slept, the first deadline is already over. */
const PULSES_MISSED = 2;
/** Milliseconds. */
const LETTING_GO = 5_000;

interface Ending {
  readonly reason: string;
  readonly unexpected: boolean;
}

export function createWorkerHandle(
  number: number,
  worker: Worker,
  handlers: Omit<Handlers<PrimaryCalls>, 'readiness'>,
) {
  let phase: 'starting' | 'serving' | 'leaving' = 'starting';
  let servingSince = Number.POSITIVE_INFINITY;
  let readiness: ProcessReadiness = { readiness: 'ready', down: [] };
  let lastReport: LastReport | null = null;
  let givenUp: string | null = null;
  let figures: Figures = [];
  let drained: Promise<number> | null = null;
  let hasEnded = false;
  const channel = createChannel<WorkerCalls, PrimaryCalls>({
    peer: `worker ${number}`,
    send: (frame, sent) => void worker.send(frame, sent),
    handlers: {
      ...handlers,
      webhook: (detection) => {
        // The last messages may arrive after the exit. What the worker saw ended with it; events
        // did happen.
        if (!hasEnded || !('sight' in detection)) handlers.webhook(detection);
      },
      readiness: (next) => {
        readiness = next;
      },
    },
  });
  worker.on('message', channel.receive);
  const ended = end();
  const serves = () => phase === 'serving';

  return {
    number,
    ended,
    get pid(): number {
      return worker.process.pid ?? 0;
    },
    get serves(): boolean {
      return serves();
    },
    get accepts(): boolean {
      return serves() && drained === null;
    },
    /** Milliseconds; below 0 if it never served. */
    get servedFor(): number {
      return performance.now() - servingSince;
    },
    get readiness(): ProcessReadiness {
      return readiness;
    },
    get figures(): Figures {
      return figures;
    },
    /** Rejects with WorkersError, or with the worker's error if that is a bug. */
    async start(order: StartOrder): Promise<string> {
      try {
        const url = await channel.call('start', order, START);
        phase = 'serving';
        servingSince = performance.now();
        void watch();
        return url;
      } catch (error) {
        throw error instanceof NoResponse
          ? new WorkersError(error.message, { cause: error })
          : error;
      }
    },
    use: (settings: SentConfig) => channel.call('use', settings, RELOAD),
    /** Rejects soon if the worker is busy. */
    ask: (question: string, argument: unknown) =>
      channel.call('ask', { question, argument }, FIGURES),
    usage: () => channel.call('usage', null, FIGURES),
    bans: () => channel.call('bans', null, FIGURES),
    async refresh(): Promise<void> {
      figures = await channel.call('figures', null, FIGURES);
    },
    /** In milliseconds. */
    drain(patience: number, options: DrainOptions): Promise<number> {
      drained ??= drain(patience, options);
      return drained;
    },
    giveUp,
    kill,
  };

  async function drain(
    patience: number,
    options: DrainOptions,
  ): Promise<number> {
    try {
      if (phase === 'starting') lastReport = { cutOff: 0, figures: [] };
      else await finish(patience, options);
      kill();
    } catch (error) {
      giveUp((error as Error).message);
    }
    await ended;
    return lastReport?.cutOff ?? 0;
  }

  async function finish(
    patience: number,
    options: DrainOptions,
  ): Promise<void> {
    lastReport = await channel.call('drain', options, patience + LETTING_GO);
    figures = lastReport.figures;
    phase = 'leaving';
    worker.disconnect();
    await Promise.race([
      ended,
      setTimeout(LETTING_GO, undefined, { ref: false }),
    ]);
  }

  function giveUp(reason: string): void {
    givenUp ??= reason;
    kill();
  }

  function kill(): void {
    worker.process.kill('SIGKILL');
  }

  /** A hung worker would still be handed connections. The pool replaces it. */
  async function watch(): Promise<void> {
    let missed = 0;
    while (serves() && missed < PULSES_MISSED) {
      await setTimeout(PULSE - (performance.now() % PULSE), undefined, {
        ref: false,
      });
      missed = (await isResponsive()) ? 0 : missed + 1;
    }
    if (serves())
      giveUp(
        `did not respond for ${(PULSES_MISSED * PULSE_RESPONSE) / 1000} s`,
      );
  }

  async function isResponsive(): Promise<boolean> {
    try {
      await channel.call(
        'ask',
        { question: status.name, argument: null },
        PULSE_RESPONSE,
      );
      return true;
    } catch (error) {
      return !(error instanceof NoResponse);
    }
  }

  async function end(): Promise<Ending> {
    const how = await new Promise<string>((resolve) => {
      worker.once('exit', (code, signal) =>
        resolve(signal ? `signal ${signal}` : `code ${code}`),
      );
      // A process that could not be forked never exits. Other errors belong to calls, which reject.
      worker.on(
        'error',
        (error) => worker.process.pid === undefined && resolve(error.message),
      );
    });
    phase = 'leaving';
    hasEnded = true;
    channel.close(how);
    return {
      reason: givenUp ?? how,
      unexpected: lastReport === null || givenUp !== null,
    };
  }
}

export type WorkerHandle = ReturnType<typeof createWorkerHandle>;
