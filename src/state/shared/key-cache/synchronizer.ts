import { WakeableSleep } from '../../../common/wakeable-sleep.ts';
import { Outage } from '../../../errors/outage.ts';
import type { Bus } from '../bus.ts';
import { Bits } from './bits.ts';
import type { KeyCacheFile } from './file.ts';
import type { KeySource } from './freshness.ts';
import { OwnedFile } from './owned-file.ts';

/** Milliseconds between two notes of how fresh the copy is. Longer than a dead connection of the bus stays unnoticed. */
const FRESHNESS_INTERVAL = 5_000;
/** Milliseconds until a backend that is away is asked again, and a file that cannot be written is tried again. */
const READ_RETRY_DELAY = 1_000;
const WRITE_RETRY_DELAY = 30_000;
/**
 * Milliseconds from a message to the reading of its key, so that every process of this machine has heard of it before: what was read is
 * later. Messages of a flood are read together.
 */
const SETTLE_TIME = 100;
/** Changed keys read at once; and so many changes since the last sweep that another one is due. */
const BATCH_SIZE = 500;
const SWEEP_AFTER_CHANGES = 20_000;
/** Milliseconds for which changes may wait while a sweep is under way. */
const MAX_CHANGE_DELAY = 1_000;

export interface KeyCacheSynchronizerOptions {
  readonly folder: string;
  readonly source: KeySource;
  readonly bus: Bus;
  /** Milliseconds from the begin of a sweep to that of the next. */
  readonly sweep: number;
  /** Told why the copy cannot be written; it is gone then, and made anew as soon as it can be. */
  readonly failed: (error: unknown) => void;
  /** Unix milliseconds. */
  readonly clock?: () => number;
}

/**
 * Keeps the copy of the keys true to the backend. The rows of a changed key are removed as soon as the change is heard, and
 * written again once the new record was read. A sweep compares everything: at the start, from time to time, and at once when
 * messages may have been lost. Of several processes on one folder, one keeps the copy, and the next one when that has ended.
 */
export class KeyCacheSynchronizer {
  readonly #options: KeyCacheSynchronizerOptions;
  readonly #clock: () => number;
  readonly #sleep = new WakeableSleep();
  readonly #stopListening: () => void;
  readonly #owned: OwnedFile;
  /** Changed keys that are to be read again. */
  #heard = new Set<string>();
  /** Monotonic milliseconds of the last reading of changed keys, the next sweep and the next beat. */
  #lastReading = 0;
  #nextSweep = 0;
  #nextBeat = 0;
  /** How many changes were heard since the last sweep began. */
  #changes = 0;
  /** Since when no message can have been lost. */
  #unbrokenSince = 0;
  #lastBeat = 0;
  /** Rows that the sweep under way has seen. */
  #seen = new Bits();
  #closed = false;

  constructor(options: KeyCacheSynchronizerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? Date.now;
    const { folder, source, failed } = options;
    this.#owned = new OwnedFile({
      ...{ folder, source: source.name, failed },
      unforgotten: (error) => this.#discard(error),
    });
    this.#stopListening = options.bus.listen((message) => {
      if (message.type === 'key') this.refresh(message.hash);
      else if (message.type === 'anything') this.#broken();
    });
    void this.#run();
  }

  /** A key was changed: what the copy has of it goes at once. */
  refresh(hash: string): void {
    if (!this.#file) return;
    this.#owned.forgetSoon(hash);
    this.#heard.add(hash);
    if (++this.#changes % SWEEP_AFTER_CHANGES === 0) this.#giveUpHeard();
    this.#sleep.wake();
  }

  /** Nothing is written any more. */
  close(): void {
    this.#closed = true;
    this.#stopListening();
    this.#sleep.wake();
    this.#owned.close();
  }

  get #file(): KeyCacheFile | null {
    return this.#owned.file;
  }

  /** Messages may have been lost: only a sweep that begins now finds what they told. */
  #broken(): void {
    this.#unbrokenSince = this.#clock();
    this.#nextSweep = 0;
    this.#sleep.wake();
  }

  /** Leaves to a sweep what changed: the rows are removed already. */
  #giveUpHeard(): void {
    this.#heard.clear();
    this.#broken();
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        const wait = this.#take() ? await this.#work() : FRESHNESS_INTERVAL;
        if (!this.#closed) await this.#sleep.sleep(wait);
      } catch (error) {
        if (this.#closed) return;
        await this.#sleep.sleepWhole(this.#afterFailure(error));
      }
    }
  }

  /** Does what is due. Answers the milliseconds until something is due again. */
  async #work(): Promise<number> {
    await this.#readHeard();
    if (!this.#closed && performance.now() >= this.#nextSweep) await this.#sweep();
    if (!this.#closed && performance.now() >= this.#nextBeat) await this.#beat();
    return this.#heard.size > 0 ? 0 : Math.max(0, Math.min(this.#nextSweep, this.#nextBeat) - performance.now());
  }

  /** Whether this process keeps the copy; it begins to as soon as nobody else does. */
  #take(): boolean {
    if (this.#file) return true;
    if (!this.#owned.open()) return false;
    this.#broken();
    this.#lastBeat = this.#clock();
    this.#nextBeat = 0;
    return true;
  }

  /** Milliseconds after which to go on. A copy that cannot be written does not tell of changes, so it must not stay. */
  #afterFailure(error: unknown): number {
    if (error instanceof Outage) {
      if (this.#heard.size > 0) this.#giveUpHeard();
      return READ_RETRY_DELAY;
    }
    this.#discard(error);
    return WRITE_RETRY_DELAY;
  }

  #discard(error: unknown): void {
    this.#options.failed(error);
    this.#heard.clear();
    this.#owned.discard();
  }

  /** Reads the keys that were changed, and keeps what they are now. */
  async #readHeard(): Promise<void> {
    this.#lastReading = performance.now();
    const changed = [...this.#heard];
    if (changed.length === 0) return;
    await this.#sleep.sleepWhole(SETTLE_TIME);
    for (let from = 0; from < changed.length && this.#file; from += BATCH_SIZE) {
      const hashes = changed.slice(from, from + BATCH_SIZE);
      const at = this.#clock();
      for (const hash of hashes) this.#heard.delete(hash);
      try {
        const found = (await this.#options.source.at(hashes)).filter((record) => record !== null);
        this.#keep(found, at);
      } catch (error) {
        for (const hash of hashes) this.#heard.add(hash);
        throw error;
      }
    }
    await this.#file?.flush();
  }

  /** Records of keys that were changed meanwhile may be from before the change, and are left out: they are read again. */
  #keep(records: Parameters<KeyCacheFile['put']>[0], at: number): void {
    const isOld = (hash: string | undefined) => hash !== undefined && this.#heard.has(hash);
    const current = records.filter(({ hash, previous }) => !isOld(hash) && !isOld(previous?.hash));
    this.#file?.put(current, at, this.#seen);
  }

  /** Compares everything with the backend. Begins again where messages were lost meanwhile. */
  async #sweep(): Promise<void> {
    const { source, sweep } = this.#options;
    const began = this.#clock();
    this.#nextSweep = performance.now() + sweep;
    this.#changes = 0;
    this.#seen = new Bits();
    try {
      const [imported, tokens] = await Promise.all([source.hasImported(), source.tokens()]);
      if (!(await this.#takePages())) return;
      if (!(await this.#removeUnseen())) return;
      const file = this.#file!;
      file.setFreshness({ ...file.freshness, swept: began, fresh: began, imported, tokens });
    } catch (error) {
      this.#nextSweep = 0;
      throw error;
    }
  }

  /** Answers whether all pages were taken and the sweep may go on. */
  async #takePages(): Promise<boolean> {
    let at = this.#clock();
    let began = performance.now();
    for await (const page of this.#options.source.pages()) {
      if (!this.#goesOn()) return false;
      this.#keep(page, at);
      // Requests have at least half of the time.
      await this.#sleep.sleepWhole(performance.now() - began);
      if (performance.now() - this.#lastReading > MAX_CHANGE_DELAY) await this.#readHeard();
      if (!this.#goesOn()) return false;
      at = this.#clock();
      began = performance.now();
    }
    return this.#goesOn();
  }

  async #removeUnseen(): Promise<boolean> {
    for (let after: number | null = 0; after !== null; ) {
      after = this.#file!.removeUnseen(this.#seen, after);
      await this.#sleep.sleepWhole(1);
      if (!this.#goesOn()) return false;
    }
    return true;
  }

  /** Whether the sweep under way is still of use. */
  #goesOn(): boolean {
    return !this.#closed && this.#file !== null && this.#nextSweep !== 0;
  }

  /** Notes until when every change is known to have been heard: the last beat, because a dead bus is noticed by then. */
  async #beat(): Promise<void> {
    const now = this.#clock();
    const { source } = this.#options;
    const [gateways, tokens] = await Promise.all([source.gateways(), source.tokens()]);
    if (!this.#file) return;
    const { freshness } = this.#file;
    const isUnbroken = this.#options.bus.isLive && this.#unbrokenSince <= freshness.swept && this.#heard.size === 0;
    const fresh = isUnbroken && this.#lastBeat > freshness.swept ? this.#lastBeat : freshness.fresh;
    this.#file.setFreshness({ ...freshness, fresh, gateways: Math.max(1, gateways), tokens });
    this.#lastBeat = now;
    this.#nextBeat = performance.now() + FRESHNESS_INTERVAL;
  }
}
