import { CoalescedWork } from '../common/coalesced-work.ts';
import { MINUTE, SECOND } from '../common/time.ts';
import { packBlock, type Source } from './block.ts';
import { sliceName } from './names.ts';
import { type Counts, createRecorder } from './recorder.ts';
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
export function createLedgerWriter({ process, clock, failed }: WriterOptions) {
  const writes = new CoalescedWork(write);
  const queue = new Map<string, Slice>();
  const recent = new Map<string, Slice>();
  let openStore: LedgerStore | null = null;
  let openSpool: LedgerStore | null = null;
  let timer: NodeJS.Timeout | undefined;
  let lastNumber = 0;
  let bytes = 0;
  let unreported = 0;
  /** Requests that could not be stored, since the start. */
  let dropped = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  /** Of slices that end in the same second. */
  let busy = { second: 0, requests: 0 };
  let most = 0;
  let isFailing = false;
  let isReported = false;
  let hasEnded = false;
  let saidEnd = false;
  let hasRead = false;
  const report = (error: unknown) => {
    if (!isReported) failed(error);
    isReported = true;
  };

  const since = clock();
  const recorder = createRecorder(clock, add);

  /** Rejects if the store is unreachable. */
  function flush() {
    return writes.next();
  }

  async function write() {
    await readSpool();
    // Without a spool, a slice of an outage ends with its minute.
    if (openSpool !== null || hasEnded) take();
    else recorder.turn();
    if (isFailing) await openSpool?.add(new Map([...queue].map(bytesOf)));
    await send();
    take();
    await send();
    isReported = false;
  }

  /** Of an earlier process; once. */
  async function readSpool() {
    if (hasRead || openSpool === null) return;
    hasRead = true;
    for (const [name, bytes] of await openSpool.slices())
      wait(name, { bytes, at: 0, requests: 0 });
  }

  function take() {
    const quiet = clock() - lastAt;
    const isDue = quiet >= SIGN_OF_LIFE || quiet < 0;
    const isLast = hasEnded && !saidEnd;
    if (!isDue && !isLast && recorder.isEmpty) return;
    recorder.take();
    saidEnd = hasEnded;
  }

  async function send() {
    if (queue.size === 0 || openStore === null) return;
    const sent = [...queue];
    const stored = [...recent];
    const again = isFailing ? stored : stored.slice(-1);
    try {
      const added = await openStore.add(
        new Map([...again, ...sent].map(bytesOf)),
      );
      // The newest was lost by a failover, or is in a block already.
      if (added > sent.length)
        await openStore.add(new Map(stored.map(bytesOf)));
    } catch (error) {
      isFailing = true;
      await openSpool?.add(new Map([...queue].map(bytesOf)));
      throw error;
    }
    isFailing = false;
    const old = performance.now() - AGAIN;
    for (const [name, { at }] of recent) if (at < old) recent.delete(name);
    for (const [name, slice] of sent) {
      if (!queue.delete(name)) continue;
      bytes -= slice.bytes.length;
      recent.set(name, { ...slice, at: performance.now() });
    }
    await emptySpool();
  }

  async function emptySpool() {
    const spooled = [...((await openSpool?.slices()) ?? new Map()).keys()];
    const stored = spooled.filter((name) => !queue.has(name));
    if (stored.length > 0)
      await openSpool?.inTurn((commit) => commit(new Map(), stored));
  }

  function add({ minute, policies, requests, traffic, usage, uses }: Counts) {
    const now = clock();
    lastAt = now;
    const number = ++lastNumber;
    const second = Math.floor(now / SECOND);
    if (second !== busy.second) busy = { second, requests: 0 };
    busy.requests += requests;
    most = Math.max(most, busy.requests);
    const source: Source = {
      number,
      since,
      until: now,
      ended: hasEnded,
      dropped: unreported,
      most,
    };
    const lost = requests + unreported;
    unreported = 0;
    const head = {
      start: minute,
      span: MINUTE,
      policies,
      sources: { [process]: source },
    };
    const bytes = packBlock(head, { traffic, usage, uses });
    wait(sliceName({ minute, process, number }), {
      bytes,
      at: 0,
      requests: lost,
    });
  }

  function wait(name: string, slice: Slice) {
    queue.set(name, slice);
    bytes += slice.bytes.length;
    for (const [name, oldest] of queue) {
      if (bytes <= MOST_BYTES) break;
      queue.delete(name);
      bytes -= oldest.bytes.length;
      unreported += oldest.requests;
      dropped += oldest.requests;
    }
  }

  return {
    recorder,
    get dropped() {
      return dropped;
    },
    /** Bytes that wait for the store. */
    get waiting() {
      return bytes;
    },
    /** Slices that the store may lack, by name. */
    get unsent(): ReadonlyMap<string, Buffer> {
      return new Map([...recent, ...queue].map(bytesOf));
    },
    /** `spool`: keeps slices during an outage of the store, and has those of an earlier process. */
    begin(store: LedgerStore, spool: LedgerStore | null) {
      openStore = store;
      openSpool = spool;
      timer = setInterval(() => flush().catch(report), INTERVAL).unref();
    },
    flush,
    /** The last slice marks the end. */
    async close() {
      clearInterval(timer);
      hasEnded = true;
      await flush().catch(report);
    },
  };
}

export type LedgerWriter = ReturnType<typeof createLedgerWriter>;

const bytesOf = ([name, { bytes }]: readonly [string, Slice]) =>
  [name, bytes] as const;
