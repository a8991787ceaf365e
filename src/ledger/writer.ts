import { setImmediate } from 'node:timers/promises';
import { createCoalescedWork } from '../common/coalesced-work.ts';
import { createDelayedRun } from '../common/delayed-run.ts';
import { MINUTE, SECOND } from '../common/time.ts';
import { FIRST_ROWS, GONE, HEAD, partIn, partName, USES } from './names.ts';
import { createRecorder, type OpenMinute, PART_ROWS } from './recorder.ts';
import type { UsageSource, UsageStore } from './store.ts';
import { packTraffic } from './traffic.ts';
import { createUnstoredParts } from './unstored-parts.ts';
import { packRows, requestsIn } from './usage-table.ts';
import { NO_CONTENT, packValue, type Source } from './value.ts';

/**
 * From a change to its write: with the delay of a store, at most a second is lost with the process.
 */
const DELAY = 700;
/** Between two looks of an idle process: for the end of the minute, and signs of life. */
const QUIET_INTERVAL = 2 * SECOND;
/**
 * Milliseconds after which an idle process shows that it runs, many uses of windows are stored, and
 * what a failover may have lost.
 */
export const SIGN_OF_LIFE = 10 * SECOND;
/** Weight of uses that are stored as often as rows, some 20 KB. */
const SMALL_USES = 1_000;
/** What a place has of the open minute. Moments are those of the minute. */
interface Progress {
  readonly minute: OpenMinute | null;
  /** Changes before it are stored. */
  readonly moment: number;
  /** Those before it in uses, too. */
  readonly uses: number;
  /** The moments of the last two signs of life, and when the last one was, Unix milliseconds. */
  readonly signs: readonly [before: number, last: number];
  readonly signedAt: number;
  /** As its head says. */
  readonly open: number;
}

const NOTHING: Progress = {
  minute: null,
  moment: 0,
  uses: 0,
  signs: [0, 0],
  signedAt: Number.NEGATIVE_INFINITY,
  open: 0,
};

interface WriterOptions {
  /** Unique among all processes, ever. */
  readonly process: string;
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** Called once per series of failures. */
  readonly failed: (error: unknown) => void;
}

/**
 * Stores the minutes of a process, more than once a second. A part of a minute replaces its earlier
 * content, so storing it again changes nothing. A minute that has ended is stored once more when a
 * failover cannot lose it any longer, unless one has, and from then on never again: now sums may
 * take it.
 */
export function createUsageWriter({ process, clock, failed }: WriterOptions) {
  const writes = createCoalescedWork(write);
  const soon = createDelayedRun(run, DELAY);
  const ended: OpenMinute[] = [];
  const unstored = createUnstoredParts((name, lost) => {
    recorder.minute.dropped += lost;
    // Those of a head were dropped before.
    if (partIn(name)!.part !== HEAD) dropped += lost;
  });
  let inStore = NOTHING;
  let inSpool = NOTHING;
  let openStore: UsageStore | null = null;
  let openSpool: UsageStore | null = null;
  let spoolRead: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  /** Requests that could not be stored, since the start. */
  let dropped = 0;
  let wantsUses = false;
  let isReported = false;
  let hasEnded = false;
  let saidEnd = false;

  const since = clock();
  const recorder = createRecorder(
    clock,
    (minute) => {
      ended.push(minute);
    },
    () => {
      if (openStore !== null) soon.plan();
    },
  );
  const goneName = nameOf(recorder.minute, GONE);

  function report(error: unknown) {
    if (!isReported) failed(error);
    isReported = true;
  }

  function run() {
    writes.next().catch(report).finally(repeat);
  }

  /** A minute that has ended is stored twice. */
  function repeat() {
    if (unstored.count > 0 && !hasEnded) soon.plan();
  }

  async function write() {
    await spoolRead;
    const { minute } = recorder;
    while (ended.length > 0) {
      await keep(ended[0]!);
      ended.shift();
    }
    if (openStore === null) return;
    try {
      await sendEnded(openStore);
      await sendOpen(openStore, minute);
    } catch (error) {
      await spool(minute).catch(report);
      throw error;
    }
    await emptySpool();
    isReported = false;
  }

  /** All parts of a minute that has ended. */
  async function keep(minute: OpenMinute) {
    const { usage } = minute;
    const { parts } = minute.changedSince(0);
    for (const [name, bytes] of await packedRows(minute, parts)) {
      const from = (partIn(name)!.part - FIRST_ROWS) * PART_ROWS;
      unstored.add(name, bytes, requestsIn(usage, from, from + PART_ROWS));
    }
    unstored.add(...packedUses(minute), 0);
    unstored.add(...packedHead(minute, openSince(minute)), minute.dropped);
  }

  async function packedRows(minute: OpenMinute, parts: readonly number[]) {
    const packed = new Map<string, Buffer>();
    for (const part of parts) {
      const from = part * PART_ROWS;
      const count = Math.min(PART_ROWS, minute.usage.size - from);
      const places = Array.from({ length: count }, (_, i) => from + i);
      const rows = packRows(minute.usage, places);
      packed.set(
        nameOf(minute, FIRST_ROWS + part),
        packValue(emptyHead(minute), { ...NO_CONTENT, usage: [rows] }),
      );
      await setImmediate();
    }
    return packed;
  }

  function packedUses(minute: OpenMinute): [name: string, bytes: Buffer] {
    const content = { ...NO_CONTENT, uses: minute.uses.pack() };
    return [nameOf(minute, USES), packValue(emptyHead(minute), content)];
  }

  /** `open`: the number of the first minute that may be stored again. */
  function packedHead(
    minute: OpenMinute,
    open: number,
    isEnd = false,
  ): [name: string, bytes: Buffer] {
    const { policies, dropped } = minute;
    const source: Source = {
      since,
      until: clock(),
      open,
      ended: isEnd,
      dropped,
      most: recorder.most,
    };
    const head = {
      ...emptyHead(minute),
      policies,
      sources: { [process]: source },
    };
    const content = { ...NO_CONTENT, traffic: packTraffic(minute.traffic) };
    return [nameOf(minute, HEAD), packValue(head, content)];
  }

  function nameOf({ start, number }: OpenMinute, part: number): string {
    return partName({ minute: start, number, part, process });
  }

  async function sendEnded(store: UsageStore) {
    for (;;) {
      const now = clock();
      const due = unstored.due(store.mayLose, now);
      if (due.size === 0) return;
      const { taken, added } = await store.put(due);
      unstored.noteTaken(taken);
      unstored.noteStored(due.keys(), added, store.mayLose, now);
    }
  }

  async function sendOpen(store: UsageStore, minute: OpenMinute) {
    const { parts, progress } = await changedIn(
      inStore,
      minute,
      store,
      hasEnded,
    );
    if (parts === null) return;
    await store.put(parts);
    inStore = progress;
    saidEnd = hasEnded;
  }

  /**
   * Parts of the open minute that a place lacks, `null`: none; and its progress with them. `isEnd`:
   * nothing follows.
   */
  async function changedIn(
    existing: Progress,
    minute: OpenMinute,
    { mayLose }: UsageStore,
    isEnd: boolean,
  ) {
    const now = clock();
    const { signedAt, open: knownOpen } = existing;
    const before =
      existing.minute === minute
        ? existing
        : { ...NOTHING, minute, signedAt, open: knownOpen };
    const isSign = Math.abs(now - signedAt) >= SIGN_OF_LIFE;
    const [lost, last] = before.signs;
    const since = isSign && mayLose > 0 ? lost : before.moment;
    const { parts, moment } = minute.changedSince(since);
    const isUsesDue =
      isSign || wantsUses || isEnd || minute.uses.weight < SMALL_USES;
    const hasUses = isUsesDue && minute.hasChangedSince(before.uses);
    const open = openSince(minute);
    const isQuiet =
      parts.length === 0 && !hasUses && open === knownOpen && saidEnd === isEnd;
    if (isQuiet && !isSign) return { parts: null, progress: existing };
    const packed = await packedRows(minute, parts);
    if (hasUses) packed.set(...packedUses(minute));
    packed.set(...packedHead(minute, open, isEnd));
    wantsUses = false;
    const progress: Progress = {
      minute,
      moment,
      uses: hasUses ? moment : before.uses,
      signs: isSign ? [last, moment] : before.signs,
      signedAt: isSign ? now : signedAt,
      open,
    };
    return { parts: packed, progress };
  }

  const openSince = ({ number }: OpenMinute): number =>
    Math.min(number, unstored.firstNumberOf(process));

  async function spool(minute: OpenMinute) {
    if (openSpool === null) return;
    const { parts, progress } = await changedIn(
      inSpool,
      minute,
      openSpool,
      // The next process stores it more than once.
      false,
    );
    const unspooled = new Map(unstored.unspooled());
    const all = new Map([...unspooled, ...(parts ?? [])]);
    if (all.size === 0) return;
    await openSpool.put(all);
    unstored.noteSpooled(unspooled.keys());
    inSpool = progress;
  }

  async function emptySpool() {
    if (openSpool === null) return;
    const names = [...(await openSpool.index()).parts.keys()].filter((name) => {
      // The next process would store what the store has in a sum by then.
      if (saidEnd && partIn(name)?.process === process) return true;
      return !unstored.has(name) && name !== goneName;
    });
    if (names.length === 0) return;
    const gone = new Map(names.map((name) => [name, null]));
    await openSpool.inTurn((commit) => commit(new Map(), gone));
    inSpool = NOTHING;
  }

  /** What an earlier process has left there, and that this one is gone once the next reads it. */
  async function readSpool(spool: UsageStore) {
    for (const [name, { bytes }] of (await spool.index()).parts)
      unstored.add(name, bytes, 0, true);
    await spool.put(lastWord());
  }

  /** In the spool: the next process stores it after everything else of this one. */
  function lastWord() {
    const source = {
      since,
      until: hasEnded ? clock() : since,
      open: Number.MAX_SAFE_INTEGER,
      ended: hasEnded,
      dropped: 0,
      most: 0,
    };
    const start = partIn(goneName)!.minute;
    const head = { ...emptyHead({ start }), sources: { [process]: source } };
    return new Map([[goneName, packValue(head, NO_CONTENT)]]);
  }

  const unsent: UsageSource = {
    async index() {
      const { minute } = recorder;
      const { parts } = minute.changedSince(0);
      const open = await packedRows(minute, parts);
      const all = [
        ...unstored.all(),
        ...open,
        packedUses(minute),
        packedHead(minute, minute.number),
      ];
      return {
        parts: new Map(all.map(([name, bytes]) => [name, { bytes, age: 0 }])),
        sizes: new Map(),
      };
    },
    read: async () => [],
  };

  return {
    recorder,
    get dropped() {
      return dropped;
    },
    /** Bytes that wait for the store. */
    get waiting() {
      return unstored.bytes;
    },
    /** What the store may lack. */
    unsent,
    /** `spool`: keeps parts during an outage of the store, and has those of an earlier process. */
    begin(store: UsageStore, spool: UsageStore | null) {
      openStore = store;
      openSpool = spool;
      if (spool !== null) spoolRead = readSpool(spool).catch(report);
      timer = setInterval(run, QUIET_INTERVAL).unref();
    },
    /** Stores everything. Rejects if the store is unreachable. */
    flush() {
      wantsUses = true;
      return writes.next();
    },
    /** The last head marks the end. */
    async close() {
      clearInterval(timer);
      soon.close();
      hasEnded = true;
      await writes.next().catch(report);
      if (!saidEnd) await openSpool?.put(lastWord()).catch(report);
    },
  };
}

export type UsageWriter = ReturnType<typeof createUsageWriter>;

const emptyHead = ({ start }: Pick<OpenMinute, 'start'>) => ({
  start,
  span: MINUTE,
  policies: 0,
  sources: {},
});
