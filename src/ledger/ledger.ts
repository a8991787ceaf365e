import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { DAY, HOUR, MINUTE, SECOND } from '../common/time.ts';
import type { Plans } from '../limits/plans.ts';
import type { Observe } from '../observe/events.ts';
import { createPendingExports, type SendUsage } from './pending-exports.ts';
import { createUsageReader, type UsageReader } from './reader.ts';
import type { Retention } from './retention.ts';
import { createRollup, type Rollup, type RollupReport } from './rollup.ts';
import type { UsageSource, UsageStore } from './store.ts';
import { createUsageWriter, type UsageWriter } from './writer.ts';

/** Milliseconds for the last write of a minute, after which it is added up. */
const AFTER = 3 * SECOND;
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
  readonly ledger: UsageStore;
  readonly ledgerSpool?: UsageStore | null;
}

/** Passes usage on, in the turn of one gateway. */
export interface UsageReceiver {
  readonly sendUsage: SendUsage;
  /** Ends a running attempt. */
  close(): void;
}

/** What operations read. */
export interface LedgerAccess {
  readonly reader: UsageReader;
  /** What this gateway has not stored, for an outage of the store. */
  readonly unsent: UsageReader;
  /** What is stored, with what the disk does not take. */
  readonly whole: UsageReader;
  /** Stores what this gateway has counted. Rejects if the store is unreachable. */
  flush(): Promise<void>;
}

/** What the processes of a gateway have counted. */
export type CountedUsage = Pick<UsageWriter, 'unsent' | 'flush'>;

/** The ledger of a process: counts, stores, and takes its turn in adding up. */
export function createLedger({ clock, observe }: LedgerOptions) {
  let retention: Retention | null = null;
  let timer: NodeJS.Timeout | undefined;
  let rollup: Rollup | null = null;
  let usageReceiver: UsageReceiver | null = null;
  let running: Promise<void> = Promise.resolve();
  let isNearlyFull = false;
  let isRollFailing = false;
  let isClosed = false;
  let mayLose = 0;
  let bytes = 0;
  let exportDelay = 0;

  const writer = createUsageWriter({
    process: `${hostname()}:${process.pid}#${randomUUID()}`,
    clock,
    failed: (error) =>
      warn(`usage waits until it can be stored: ${messageOf(error)}`),
  });
  const { recorder } = writer;

  /** Adds up what has ended, unless another gateway does. */
  async function roll() {
    const now = clock();
    const report = (await rollup?.run(now)) ?? null;
    isRollFailing = false;
    // Metrics of all processes are added up.
    bytes = report?.bytes ?? 0;
    exportDelay =
      report?.pendingSince == null ? 0 : Math.max(0, now - report.pendingSince);
    if (report === null) return;
    const { maxBytes } = retention!;
    reportExpired(report.old);
    if (report.dropped > 0)
      warn(
        `${report.dropped} sums of usage were removed: raise usage.maxBytes`,
      );
    if (report.unexported > 0)
      warn(
        `${report.unexported} minutes of usage were removed before they were exported`,
      );
    const isNear = report.bytes > NEARLY * maxBytes;
    if (isNear && !isNearlyFull)
      warn(
        `usage has ${report.bytes} of usage.maxBytes ${maxBytes}: the oldest is removed soon`,
      );
    isNearlyFull = isNear;
  }

  function plan() {
    const wait = MINUTE - (clock() % MINUTE) + AFTER + mayLose;
    timer = setTimeout(
      () => {
        running = turn();
      },
      Math.max(SECOND, wait),
    ).unref();
  }

  async function turn() {
    // The next minute repeats what an outage prevented.
    await roll().catch((error: unknown) => {
      if (!isRollFailing) warn(`usage is not added up: ${messageOf(error)}`);
      isRollFailing = true;
    });
    if (!isClosed) plan();
  }

  function reportExpired({ hours, days }: RollupReport['old']) {
    if (hours.length + days.length === 0) return;
    const ends = [
      ...hours.map((start) => start + HOUR),
      ...days.map((start) => start + DAY),
    ];
    observe({
      type: 'usage.expired',
      hours: hours.length,
      days: days.length,
      before: new Date(Math.max(...ends)).toISOString(),
    });
  }

  function warn(warning: string) {
    observe({ type: 'state.warning', warning });
  }

  return {
    writer,
    /** Of all sums, if this process had the last turn. */
    get bytes() {
      return bytes;
    },
    /** Milliseconds since the begin of what is not exported, if this process had the last turn. */
    get exportDelay() {
      return exportDelay;
    },
    recorder,
    observe: recorder.observe,
    /** `receiver` `null`: usage is not exported. */
    begin(
      { ledger: store, ledgerSpool = null }: LedgerStores,
      receiver: UsageReceiver | null = null,
    ) {
      writer.begin(store, ledgerSpool);
      mayLose = store.mayLose;
      usageReceiver = receiver;
      const exports =
        receiver && createPendingExports({ store, damaged: warn, ...receiver });
      rollup = createRollup({
        store,
        retention: () => retention!,
        damaged: warn,
        exports,
      });
      plan();
    },
    /** At the start and after each reload. */
    use({ usage, plans }: LedgerSettings) {
      retention = usage;
      recorder.countWindows(plans);
    },
    roll,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      usageReceiver?.close();
      await running;
      await writer.close();
    },
  };
}

export type Ledger = ReturnType<typeof createLedger>;

export function accessTo(
  store: UsageSource,
  counted: CountedUsage | null,
  damaged: (damage: string) => void,
): LedgerAccess {
  const unsent = counted?.unsent ?? store;
  const whole: UsageSource = {
    /** A part that waits replaces its stored content. */
    async index() {
      const [stored, waiting] = [await store.index(), await unsent.index()];
      const parts = new Map([...stored.parts, ...waiting.parts]);
      return { ...stored, parts };
    },
    read: (names) => store.read(names),
  };
  return {
    reader: createUsageReader(store, damaged),
    unsent: createUsageReader(unsent, damaged),
    whole: createUsageReader(whole, damaged),
    flush: async () => await counted?.flush(),
  };
}

const messageOf = (error: unknown) =>
  error instanceof Error ? error.message : String(error);
