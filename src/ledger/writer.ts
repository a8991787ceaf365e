import { CoalescedWork } from '../common/coalesced-work.ts';
import { MINUTE, SECOND } from '../common/time.ts';
import { packBlock, type Source } from './block.ts';
import { sliceName } from './names.ts';
import { type Counts, Recorder } from './recorder.ts';
import type { LedgerStore } from './store.ts';

/** With the delay of a store, at most a second is lost with the process. */
const INTERVAL = 700;
/** An idle process shows that it runs. */
export const SIGN_OF_LIFE = 10 * SECOND;
/** Bytes of slices that wait for the store. */
const MOST_BYTES = 16 << 20;
/** Milliseconds after which a failover does not lose a stored slice. */
const AGAIN = 10 * SECOND;

interface Slice {
  readonly bytes: Buffer;
  /** When it was stored, on the clock of `performance`; 0: it waits. */
  readonly at: number;
  /** In it, and in those before it that were dropped. */
  readonly requests: number;
}

interface WriterOptions {
  /** Unique among all processes, ever. */
  readonly process: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Called once per series of failures. */
  readonly failed: (error: unknown) => void;
}

/**
 * Stores what was counted, more than once a second. Slices are stored in their order, and a slice
 * that could not be stored again under its name, so each counts once.
 */
export class LedgerWriter {
  readonly recorder: Recorder;
  readonly #options: WriterOptions;
  readonly #since: number;
  readonly #writes = new CoalescedWork(() => this.#write());
  readonly #waiting = new Map<string, Slice>();
  readonly #stored = new Map<string, Slice>();
  #store: LedgerStore | null = null;
  #spool: LedgerStore | null = null;
  #timer: NodeJS.Timeout | undefined;
  #number = 0;
  #bytes = 0;
  #dropped = 0;
  /** Requests that could not be stored, since the start. */
  dropped = 0;
  #lastAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;
  #isReported = false;
  #hasEnded = false;
  #saidEnd = false;
  #hasRead = false;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#since = options.clock();
    this.recorder = new Recorder(options.clock, (counts) => this.#add(counts));
  }

  /** Bytes that wait for the store. */
  get waiting(): number {
    return this.#bytes;
  }

  /** Slices that the store may lack, by name. */
  get unsent(): ReadonlyMap<string, Buffer> {
    return new Map([...this.#stored, ...this.#waiting].map(bytesOf));
  }

  /** `spool`: keeps slices during an outage of the store, and has those of an earlier process. */
  begin(store: LedgerStore, spool: LedgerStore | null): void {
    this.#store = store;
    this.#spool = spool;
    this.#timer = setInterval(
      () => this.flush().catch(this.#report),
      INTERVAL,
    ).unref();
  }

  /** Rejects if the store is unreachable. */
  flush(): Promise<void> {
    return this.#writes.next();
  }

  /** The last slice says that nothing follows. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#hasEnded = true;
    await this.flush().catch(this.#report);
  }

  async #write(): Promise<void> {
    await this.#readSpool();
    // Without a spool, a slice of an outage ends with its minute.
    if (this.#spool !== null || this.#hasEnded) this.#take();
    else this.recorder.turn();
    if (this.#isFailing)
      await this.#spool?.add(new Map([...this.#waiting].map(bytesOf)));
    await this.#send();
    this.#take();
    await this.#send();
    this.#isReported = false;
  }

  readonly #report = (error: unknown): void => {
    if (!this.#isReported) this.#options.failed(error);
    this.#isReported = true;
  };

  /** Of an earlier process; once. */
  async #readSpool(): Promise<void> {
    if (this.#hasRead || this.#spool === null) return;
    this.#hasRead = true;
    for (const [name, bytes] of await this.#spool.slices())
      this.#wait(name, { bytes, at: 0, requests: 0 });
  }

  #take(): void {
    const quiet = this.#options.clock() - this.#lastAt;
    const isDue = quiet >= SIGN_OF_LIFE || quiet < 0;
    const isLast = this.#hasEnded && !this.#saidEnd;
    if (!isDue && !isLast && this.recorder.isEmpty) return;
    this.recorder.take();
    this.#saidEnd = this.#hasEnded;
  }

  async #send(): Promise<void> {
    if (this.#waiting.size === 0 || this.#store === null) return;
    const sent = [...this.#waiting];
    const stored = [...this.#stored];
    const again = this.#isFailing ? stored : stored.slice(-1);
    try {
      const added = await this.#store.add(
        new Map([...again, ...sent].map(bytesOf)),
      );
      // The newest was lost by a failover, or is in a block already.
      if (added > sent.length)
        await this.#store.add(new Map(stored.map(bytesOf)));
    } catch (error) {
      this.#isFailing = true;
      await this.#spool?.add(new Map([...this.#waiting].map(bytesOf)));
      throw error;
    }
    this.#isFailing = false;
    const old = performance.now() - AGAIN;
    for (const [name, { at }] of this.#stored)
      if (at < old) this.#stored.delete(name);
    for (const [name, slice] of sent) {
      if (!this.#waiting.delete(name)) continue;
      this.#bytes -= slice.bytes.length;
      this.#stored.set(name, { ...slice, at: performance.now() });
    }
    await this.#emptySpool();
  }

  async #emptySpool(): Promise<void> {
    const spooled = [...((await this.#spool?.slices()) ?? new Map()).keys()];
    const stored = spooled.filter((name) => !this.#waiting.has(name));
    if (stored.length > 0)
      await this.#spool?.inTurn((commit) => commit(new Map(), stored));
  }

  #add({ minute, policies, requests, traffic, usage, uses }: Counts): void {
    const { process, clock } = this.#options;
    const now = clock();
    this.#lastAt = now;
    const number = ++this.#number;
    const source: Source = {
      number,
      since: this.#since,
      until: now,
      ended: this.#hasEnded,
      dropped: this.#dropped,
    };
    const lost = requests + this.#dropped;
    this.#dropped = 0;
    const head = {
      start: minute,
      span: MINUTE,
      policies,
      sources: { [process]: source },
    };
    const bytes = packBlock(head, { traffic, usage, uses });
    this.#wait(sliceName({ minute, process, number }), {
      bytes,
      at: 0,
      requests: lost,
    });
  }

  #wait(name: string, slice: Slice): void {
    this.#waiting.set(name, slice);
    this.#bytes += slice.bytes.length;
    for (const [name, oldest] of this.#waiting) {
      if (this.#bytes <= MOST_BYTES) break;
      this.#waiting.delete(name);
      this.#bytes -= oldest.bytes.length;
      this.#dropped += oldest.requests;
      this.dropped += oldest.requests;
    }
  }
}

const bytesOf = ([name, { bytes }]: readonly [string, Slice]) =>
  [name, bytes] as const;
