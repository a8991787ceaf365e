import { Outage } from '../../common/errors/outage.ts';
import { WakeableSleep } from '../../common/wakeable-sleep.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import { hashesOf, type KeyRecord } from '../keys/key.ts';
import type { TokenRecord } from '../operators/tokens.ts';
import { keyCacheFileIn } from './file.ts';

/**
 * Milliseconds between two updates of the freshness. Longer than a dead bus connection stays
 * undetected.
 */
const FRESHNESS_INTERVAL = 5_000;
/** Retry delay in milliseconds, for the backend and the file. */
const READ_RETRY_DELAY = 1_000;
const WRITE_RETRY_DELAY = 30_000;
/**
 * Milliseconds from a message to the read of its key, so that every local process receives the
 * message before the read.
 */
const SETTLE_TIME = 100;
/** Keys per read, and changed keys that wait for it; more are left to a sweep. */
const BATCH_SIZE = 500;
const MAX_HEARD = 20_000;
/** Maximum milliseconds that changes wait during a sweep. */
const MAX_CHANGE_DELAY = 1_000;

/** The shared backend as a source of keys. Calls reject with `Outage` while it is down. */
export interface KeySource {
  /** Identifies the backend without passwords; equal for all its gateways. */
  readonly name: string;
  /** All keys that exist during the whole iteration, in any order. */
  pages(): AsyncIterable<readonly KeyRecord[]>;
  /** Records by hash, in this order; `null`: unknown key. */
  at(hashes: readonly string[]): Promise<readonly (KeyRecord | null)[]>;
  hasImported(): Promise<boolean>;
  gateways(): Promise<number>;
  tokens(): Promise<readonly TokenRecord[]>;
}

export interface KeyCacheSynchronizerOptions {
  readonly folder: string;
  readonly source: KeySource;
  readonly bus: Bus;
  /** Milliseconds. */
  readonly sweep: number;
  /** Called when the cache cannot be written; it is then deleted, and recreated when possible. */
  readonly failed: (error: unknown) => void;
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** For tests: milliseconds. */
  readonly freshnessInterval?: number;
}

/**
 * Synchronizes the key cache with the backend. Rows of a changed key are removed when the message
 * arrives and rewritten after the new record is read. A sweep compares all keys: at the start,
 * periodically, and when messages may have been lost. One process per folder writes the cache;
 * another takes over when it ends.
 */
export function createKeyCacheSynchronizer({
  folder,
  source,
  failed,
  clock = Date.now,
  freshnessInterval = FRESHNESS_INTERVAL,
  sweep,
  bus,
}: KeyCacheSynchronizerOptions) {
  const sleep = new WakeableSleep();
  const heard = new Set<string>();
  /** Monotonic milliseconds. */
  let lastReading = 0;
  let nextSweep = 0;
  let nextBeat = 0;
  /** Whether a sweep has completed since messages may have been lost. */
  let isWhole = false;
  /** Unix milliseconds: the start of the previous update of the freshness, or of a later sweep. */
  let lastBeat = 0;
  let closed = false;

  const file = keyCacheFileIn(folder, source.name, failed);
  const stopListening = bus.listen((message) => {
    if (message.type === 'key') refresh(message.hash);
    else if (message.type === 'anything') broken();
  });
  void run();

  function refresh(hash: string) {
    if (!file.isOpen) return;
    file.forgetSoon(hash);
    heard.add(hash);
    if (heard.size > MAX_HEARD) giveUpHeard();
    sleep.wake();
  }

  /** Messages may have been lost: only a new sweep finds their changes. */
  function broken() {
    isWhole = false;
    nextSweep = 0;
    sleep.wake();
  }

  /** Leaves the changes to a sweep: their rows are already removed. */
  function giveUpHeard() {
    heard.clear();
    broken();
  }

  async function run() {
    while (!closed) {
      try {
        const wait = take() ? await work() : freshnessInterval;
        if (!closed) await sleep.sleep(wait);
      } catch (error) {
        if (closed) return;
        await sleep.sleepWhole(afterFailure(error));
      }
    }
  }

  /** Returns milliseconds. */
  async function work() {
    await readHeard();
    if (file.isOpen && performance.now() >= nextSweep) await sweepAll();
    if (file.isOpen && performance.now() >= nextBeat) await beat();
    return heard.size > 0
      ? 0
      : Math.max(0, Math.min(nextSweep, nextBeat) - performance.now());
  }

  /** Whether this process owns the cache; takes it over from an ended process. */
  function take() {
    if (file.isOpen) return true;
    if (!file.open()) return false;
    broken();
    nextBeat = 0;
    return true;
  }

  /** Returns the retry delay. A cache that cannot be written misses changes, so it is deleted. */
  function afterFailure(error: unknown) {
    if (error instanceof Outage) {
      if (heard.size > 0) giveUpHeard();
      return READ_RETRY_DELAY;
    }
    heard.clear();
    file.discard(error);
    return WRITE_RETRY_DELAY;
  }

  async function readHeard() {
    lastReading = performance.now();
    const changed = [...heard];
    if (changed.length === 0) return;
    await sleep.sleepWhole(SETTLE_TIME);
    for (
      let from = 0;
      from < changed.length && file.isOpen;
      from += BATCH_SIZE
    ) {
      const hashes = changed.slice(from, from + BATCH_SIZE);
      const at = clock();
      for (const hash of hashes) heard.delete(hash);
      try {
        keep(await source.at(hashes), at);
      } catch (error) {
        for (const hash of hashes) heard.add(hash);
        throw error;
      }
    }
    if (file.isOpen) await file.flush();
  }

  /** Skips records of keys changed meanwhile, which may be outdated; they are read again. */
  function keep(records: readonly (KeyRecord | null)[], at: number) {
    if (!file.isOpen) return;
    const known = records.filter((record) => record !== null);
    const current = known.filter(
      (record) => !hashesOf(record).some((hash) => heard.has(hash)),
    );
    file.put(current, at);
  }

  /** Compares all keys with the backend. Restarts if messages were lost meanwhile. */
  async function sweepAll() {
    const began = clock();
    nextSweep = performance.now() + sweep;
    file.beginSweep();
    try {
      const [imported, tokens] = await Promise.all([
        source.hasImported(),
        source.tokens(),
      ]);
      if (!(await takePages())) return;
      for (let after: number | null = 0; after !== null; ) {
        after = file.removeUnseen(after);
        await sleep.sleepWhole(1);
        if (!isSweeping()) return;
      }
      file.setFreshness({ swept: began, fresh: began, imported, tokens });
      isWhole = true;
      lastBeat = began;
    } catch (error) {
      nextSweep = 0;
      throw error;
    }
  }

  /** Returns whether all pages were processed and the sweep may continue. */
  async function takePages() {
    let at = clock();
    let began = performance.now();
    for await (const page of source.pages()) {
      if (!isSweeping()) return false;
      keep(page, at);
      // Leaves at least half of the time to requests.
      await sleep.sleepWhole(performance.now() - began);
      if (performance.now() - lastReading > MAX_CHANGE_DELAY) await readHeard();
      if (!isSweeping()) return false;
      at = clock();
      began = performance.now();
    }
    return isSweeping();
  }

  function isSweeping() {
    return file.isOpen && nextSweep !== 0;
  }

  /** Records the freshness as of the previous update, because a dead bus is detected by then. */
  async function beat() {
    const now = clock();

    const [gateways, tokens] = await Promise.all([
      source.gateways(),
      source.tokens(),
    ]);
    if (!file.isOpen) return;
    const { freshness } = file;
    const isCurrent = bus.isLive && isWhole && heard.size === 0;
    const fresh = isCurrent ? lastBeat : freshness.fresh;
    file.setFreshness({ fresh, gateways: Math.max(1, gateways), tokens });
    lastBeat = now;
    nextBeat = performance.now() + freshnessInterval;
  }

  return {
    refresh,
    close() {
      closed = true;
      stopListening();
      sleep.wake();
      file.close();
    },
  };
}

export type KeyCacheSynchronizer = ReturnType<
  typeof createKeyCacheSynchronizer
>;
