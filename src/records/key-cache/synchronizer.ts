import { Outage } from '../../common/errors/outage.ts';
import { WakeableSleep } from '../../common/wakeable-sleep.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import { hashesOf, type KeyRecord } from '../keys/key.ts';
import type { TokenRecord } from '../operators/tokens.ts';
import { type KeyCacheFile, keyCacheFileIn } from './file.ts';

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
export class KeyCacheSynchronizer {
  readonly #options: KeyCacheSynchronizerOptions;
  readonly #sleep = new WakeableSleep();
  readonly #stopListening: () => void;
  readonly #file: KeyCacheFile;
  #heard = new Set<string>();
  /** Monotonic milliseconds. */
  #lastReading = 0;
  #nextSweep = 0;
  #nextBeat = 0;
  /** Whether a sweep has completed since messages may have been lost. */
  #isWhole = false;
  /** Unix milliseconds: the start of the previous update of the freshness, or of a later sweep. */
  #lastBeat = 0;
  readonly #clock: () => number;
  readonly #freshnessInterval: number;
  #closed = false;

  constructor(options: KeyCacheSynchronizerOptions) {
    this.#options = options;
    const {
      folder,
      source,
      failed,
      clock = Date.now,
      freshnessInterval = FRESHNESS_INTERVAL,
    } = options;
    this.#clock = clock;
    this.#freshnessInterval = freshnessInterval;
    this.#file = keyCacheFileIn(folder, source.name, failed);
    this.#stopListening = options.bus.listen((message) => {
      if (message.type === 'key') this.refresh(message.hash);
      else if (message.type === 'anything') this.#broken();
    });
    void this.#run();
  }

  refresh(hash: string): void {
    if (!this.#file.isOpen) return;
    this.#file.forgetSoon(hash);
    this.#heard.add(hash);
    if (this.#heard.size > MAX_HEARD) this.#giveUpHeard();
    this.#sleep.wake();
  }

  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#sleep.wake();
    this.#file.close();
  }

  /** Messages may have been lost: only a new sweep finds their changes. */
  #broken(): void {
    this.#isWhole = false;
    this.#nextSweep = 0;
    this.#sleep.wake();
  }

  /** Leaves the changes to a sweep: their rows are already removed. */
  #giveUpHeard(): void {
    this.#heard.clear();
    this.#broken();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        const wait = this.#take()
          ? await this.#work()
          : this.#freshnessInterval;
        if (!this.#closed) await this.#sleep.sleep(wait);
      } catch (error) {
        if (this.#closed) return;
        await this.#sleep.sleepWhole(this.#afterFailure(error));
      }
    }
  }

  /** Returns milliseconds. */
  async #work(): Promise<number> {
    await this.#readHeard();
    if (this.#file.isOpen && performance.now() >= this.#nextSweep)
      await this.#sweep();
    if (this.#file.isOpen && performance.now() >= this.#nextBeat)
      await this.#beat();
    return this.#heard.size > 0
      ? 0
      : Math.max(
          0,
          Math.min(this.#nextSweep, this.#nextBeat) - performance.now(),
        );
  }

  /** Whether this process owns the cache; takes it over from an ended process. */
  #take(): boolean {
    if (this.#file.isOpen) return true;
    if (!this.#file.open()) return false;
    this.#broken();
    this.#nextBeat = 0;
    return true;
  }

  /** Returns the retry delay. A cache that cannot be written misses changes, so it is deleted. */
  #afterFailure(error: unknown): number {
    if (error instanceof Outage) {
      if (this.#heard.size > 0) this.#giveUpHeard();
      return READ_RETRY_DELAY;
    }
    this.#heard.clear();
    this.#file.discard(error);
    return WRITE_RETRY_DELAY;
  }

  async #readHeard(): Promise<void> {
    this.#lastReading = performance.now();
    const changed = [...this.#heard];
    if (changed.length === 0) return;
    await this.#sleep.sleepWhole(SETTLE_TIME);
    for (
      let from = 0;
      from < changed.length && this.#file.isOpen;
      from += BATCH_SIZE
    ) {
      const hashes = changed.slice(from, from + BATCH_SIZE);
      const at = this.#clock();
      for (const hash of hashes) this.#heard.delete(hash);
      try {
        this.#keep(await this.#options.source.at(hashes), at);
      } catch (error) {
        for (const hash of hashes) this.#heard.add(hash);
        throw error;
      }
    }
    if (this.#file.isOpen) await this.#file.flush();
  }

  /** Skips records of keys changed meanwhile, which may be outdated; they are read again. */
  #keep(records: readonly (KeyRecord | null)[], at: number): void {
    if (!this.#file.isOpen) return;
    const known = records.filter((record) => record !== null);
    const current = known.filter(
      (record) => !hashesOf(record).some((hash) => this.#heard.has(hash)),
    );
    this.#file.put(current, at);
  }

  /** Compares all keys with the backend. Restarts if messages were lost meanwhile. */
  async #sweep(): Promise<void> {
    const { source, sweep } = this.#options;
    const began = this.#clock();
    this.#nextSweep = performance.now() + sweep;
    this.#file.beginSweep();
    try {
      const [imported, tokens] = await Promise.all([
        source.hasImported(),
        source.tokens(),
      ]);
      if (!(await this.#takePages())) return;
      for (let after: number | null = 0; after !== null; ) {
        after = this.#file.removeUnseen(after);
        await this.#sleep.sleepWhole(1);
        if (!this.#isSweeping) return;
      }
      this.#file.setFreshness({ swept: began, fresh: began, imported, tokens });
      this.#isWhole = true;
      this.#lastBeat = began;
    } catch (error) {
      this.#nextSweep = 0;
      throw error;
    }
  }

  /** Returns whether all pages were processed and the sweep may continue. */
  async #takePages(): Promise<boolean> {
    let at = this.#clock();
    let began = performance.now();
    for await (const page of this.#options.source.pages()) {
      if (!this.#isSweeping) return false;
      this.#keep(page, at);
      // Leaves at least half of the time to requests.
      await this.#sleep.sleepWhole(performance.now() - began);
      if (performance.now() - this.#lastReading > MAX_CHANGE_DELAY)
        await this.#readHeard();
      if (!this.#isSweeping) return false;
      at = this.#clock();
      began = performance.now();
    }
    return this.#isSweeping;
  }

  get #isSweeping(): boolean {
    return this.#file.isOpen && this.#nextSweep !== 0;
  }

  /** Records the freshness as of the previous update, because a dead bus is detected by then. */
  async #beat(): Promise<void> {
    const now = this.#clock();
    const { source } = this.#options;
    const [gateways, tokens] = await Promise.all([
      source.gateways(),
      source.tokens(),
    ]);
    if (!this.#file.isOpen) return;
    const { freshness } = this.#file;
    const isCurrent =
      this.#options.bus.isLive && this.#isWhole && this.#heard.size === 0;
    const fresh = isCurrent ? this.#lastBeat : freshness.fresh;
    this.#file.setFreshness({ fresh, gateways: Math.max(1, gateways), tokens });
    this.#lastBeat = now;
    this.#nextBeat = performance.now() + this.#freshnessInterval;
  }
}
