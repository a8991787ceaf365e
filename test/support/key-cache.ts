import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Outage } from '../../src/common/errors/outage.ts';
import { createKeyCache, type KeyCache } from '../../src/records/key-cache/key-cache.ts';
import { createKeyCacheReader } from '../../src/records/key-cache/reader.ts';
import {
  createKeyCacheSynchronizer,
  type KeyCacheSynchronizer,
  type KeyCacheSynchronizerOptions,
  type KeySource,
} from '../../src/records/key-cache/synchronizer.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { TokenRecord } from '../../src/records/operators/tokens.ts';
import type { Bus, Message } from '../../src/state/shared/remote-state.ts';
import { until } from './until.ts';

/**
 * Keys that other gateways change, with messages that may be lost, and a source that may be down.
 */
export class MemoryKeys implements KeySource, Bus {
  readonly name = 'memory';
  readonly records = new Map<string, KeyRecord>();
  readonly operators: TokenRecord[] = [];
  isLive = true;
  isDown = false;
  imported = false;
  sweeps = 0;
  /** Called by each update of the freshness, after its start. */
  onUpdate: () => void = () => {};
  /** Called before each page is returned. */
  onPage: () => void | Promise<void> = () => {};
  readonly #listeners = new Set<(message: Message) => void>();

  /** Replaces the record with its id, and publishes it unless messages are lost. */
  put(record: KeyRecord, isPublished = true): void {
    const before = this.records.get(record.id);
    this.records.set(record.id, record);
    if (isPublished)
      this.#publishHashes([
        before?.hash,
        before?.previous?.hash,
        record.hash,
        record.previous?.hash,
      ]);
  }

  delete(id: string, isPublished = true): void {
    const before = this.records.get(id);
    this.records.delete(id);
    if (isPublished) this.#publishHashes([before?.hash, before?.previous?.hash]);
  }

  publish(message: Message): void {
    for (const listener of this.#listeners) listener(message);
  }

  listen(listener: (message: Message) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async *pages(): AsyncIterable<readonly KeyRecord[]> {
    this.#reach();
    this.sweeps++;
    for (const id of [...this.records.keys()]) {
      const record = this.records.get(id);
      await this.onPage();
      this.#reach();
      if (record) yield [record];
    }
  }

  async at(hashes: readonly string[]): Promise<(KeyRecord | null)[]> {
    this.#reach();
    return hashes.map((hash) => this.find(hash));
  }

  find(hash: string): KeyRecord | null {
    const found = [...this.records.values()].find(
      (one) => one.hash === hash || one.previous?.hash === hash,
    );
    return found ?? null;
  }

  async hasImported(): Promise<boolean> {
    this.#reach();
    return this.imported;
  }

  async gateways(): Promise<number> {
    this.#reach();
    this.onUpdate();
    return 3;
  }

  async tokens(): Promise<TokenRecord[]> {
    this.#reach();
    return this.operators;
  }

  close(): void {}

  #reach(): void {
    if (this.isDown) throw new Outage('state_unavailable', { cause: 'down' });
  }

  #publishHashes(hashes: readonly (string | undefined)[]): void {
    for (const hash of new Set(hashes)) if (hash !== undefined) this.publish({ type: 'key', hash });
  }
}

export class TestCopy {
  readonly folder = mkdtempSync(join(tmpdir(), 'storegate-'));
  readonly failures: unknown[] = [];
  readonly reader = createKeyCacheReader(
    this.folder,
    (error) => this.failures.push(error),
    () => (this.#looks += 10_000),
  );
  readonly #ends: (() => void)[] = [() => this.reader.close()];
  #looks = 0;

  keep(
    keys: MemoryKeys,
    options: Pick<KeyCacheSynchronizerOptions, 'clock' | 'freshnessInterval'> = {},
  ): KeyCacheSynchronizer {
    const failed = (error: unknown) => void this.failures.push(error);
    const given = { folder: this.folder, source: keys, bus: keys, sweep: 3_600_000, failed };
    const keeper = createKeyCacheSynchronizer({ ...given, ...options });
    this.#ends.push(() => keeper.close());
    return keeper;
  }

  open(keys: MemoryKeys, { maxAge = 3_600_000, clock = Date.now } = {}): KeyCache {
    let looks = 0;
    const copy = createKeyCache({
      folder: this.folder,
      source: keys.name,
      maxAge,
      failed: (error) => void this.failures.push(error),
      clock,
      monotonic: () => (looks += 10_000),
    });
    keys.listen((message) => message.type === 'key' && copy.doubt(message.hash));
    this.#ends.push(() => copy.close());
    return copy;
  }

  async untilSwept(): Promise<void> {
    const now = Date.now();
    await until('a sweep is through', () => (this.reader.freshness?.swept ?? 0) >= now);
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }
}
