import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { MINUTE, SECOND } from '../common/time.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import { PendingExports, type SendUsage } from './pending-exports.ts';
import { LedgerReader } from './reader.ts';
import type { Retention } from './retention.ts';
import { Rollup } from './rollup.ts';
import type { LedgerStore } from './store.ts';
import { LedgerWriter } from './writer.ts';

/** Milliseconds after a minute at which its block is made. */
const AFTER = 6 * SECOND;
/** Part of `maxBytes` from which operators are warned. */
const NEARLY = 0.8;

interface LedgerOptions {
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly observe: Observe;
}

interface LedgerSettings {
  readonly usage: Retention;
  readonly plans: Plans;
}

interface LedgerStores {
  readonly ledger: LedgerStore;
  readonly ledgerSpool?: LedgerStore | null;
}

/** Passes usage on, in the turn of one gateway. */
export interface UsageReceiver {
  readonly sendUsage: SendUsage;
  /** Ends a running attempt. */
  close(): void;
}

/** What operations read. */
export interface LedgerAccess {
  readonly reader: LedgerReader;
  /** What this process has not stored, for an outage of the store. */
  readonly unsent: LedgerReader;
  /** Stores what this process has counted. Rejects if the store is unreachable. */
  flush(): Promise<void>;
}

/** The ledger of a process: counts, stores, and takes its turn in making blocks. */
export class Ledger {
  readonly #options: LedgerOptions;
  #retention: Retention | null = null;
  readonly writer: LedgerWriter;
  #timer: NodeJS.Timeout | undefined;
  #rollup: Rollup | null = null;
  #receiver: UsageReceiver | null = null;
  #running: Promise<void> = Promise.resolve();
  #isNearlyFull = false;
  #isRollFailing = false;
  #isClosed = false;
  /** Of all blocks, if this process had the last turn. */
  bytes = 0;
  /** Milliseconds since the begin of what is not exported, if this process had the last turn. */
  exportDelay = 0;

  constructor(options: LedgerOptions) {
    this.#options = options;
    this.writer = new LedgerWriter({
      process: `${hostname()}:${process.pid}#${randomUUID()}`,
      clock: options.clock,
      failed: (error) =>
        this.#warn(`usage waits until it can be stored: ${messageOf(error)}`),
    });
  }

  get recorder() {
    return this.writer.recorder;
  }

  get observe(): Observe {
    return this.writer.recorder.observe;
  }

  /** `receiver` `null`: usage is not exported. */
  begin(
    { ledger: store, ledgerSpool = null }: LedgerStores,
    receiver: UsageReceiver | null = null,
  ): void {
    this.writer.begin(store, ledgerSpool);
    this.#receiver = receiver;
    const damaged = (damage: string) => this.#warn(damage);
    const exports =
      receiver && new PendingExports({ store, damaged, ...receiver });
    this.#rollup = new Rollup(store, () => this.#retention!, damaged, exports);
    this.#plan();
  }

  /** At the start and after each reload. */
  use({ usage, plans }: LedgerSettings): void {
    this.#retention = usage;
    this.recorder.countWindows(plans);
  }

  /** Makes blocks of what has ended, unless another gateway does. */
  async roll(): Promise<void> {
    const now = this.#options.clock();
    const report = (await this.#rollup?.run(now)) ?? null;
    this.#isRollFailing = false;
    // Metrics of all processes are added up.
    this.bytes = report?.bytes ?? 0;
    this.exportDelay =
      report?.pendingSince == null ? 0 : Math.max(0, now - report.pendingSince);
    if (report === null) return;
    const { maxBytes } = this.#retention!;
    if (report.dropped > 0)
      this.#warn(
        `${report.dropped} blocks of usage were removed: raise usage.maxBytes`,
      );
    if (report.unexported > 0)
      this.#warn(
        `${report.unexported} minutes of usage were removed before they were exported`,
      );
    const isNearlyFull = report.bytes > NEARLY * maxBytes;
    if (isNearlyFull && !this.#isNearlyFull)
      this.#warn(
        `usage has ${report.bytes} of usage.maxBytes ${maxBytes}: the oldest is removed soon`,
      );
    this.#isNearlyFull = isNearlyFull;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#receiver?.close();
    await this.#running;
    await this.writer.close();
  }

  #plan(): void {
    const wait = MINUTE - (this.#options.clock() % MINUTE) + AFTER;
    this.#timer = setTimeout(
      () => {
        this.#running = this.#turn();
      },
      Math.max(SECOND, wait),
    ).unref();
  }

  async #turn(): Promise<void> {
    // The next minute repeats what an outage prevented.
    await this.roll().catch((error: unknown) => {
      if (!this.#isRollFailing)
        this.#warn(`usage is not added up: ${messageOf(error)}`);
      this.#isRollFailing = true;
    });
    if (!this.#isClosed) this.#plan();
  }

  #warn(warning: string): void {
    this.#options.observe({ type: 'state.warning', warning });
  }
}

export function accessTo(
  store: Readable,
  writer: LedgerWriter | null,
  damaged: (damage: string) => void,
): LedgerAccess {
  const unsent = {
    slices: async () => writer?.unsent ?? new Map(),
    sizes: async () => new Map(),
    read: async () => [],
  };
  return {
    reader: new LedgerReader(store, damaged),
    unsent: new LedgerReader(unsent, damaged),
    flush: async () => await writer?.flush(),
  };
}

type Readable = Pick<LedgerStore, 'slices' | 'sizes' | 'read'>;

const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error);
