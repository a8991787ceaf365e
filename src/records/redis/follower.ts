import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { createCoalescedWork } from '../../common/coalesced-work.ts';
import { Outage } from '../../common/errors/outage.ts';
import { type Is, isText, listOf, orNull } from '../../common/shapes.ts';
import { SECOND } from '../../common/time.ts';
import { scan } from '../../state/redis/bulk.ts';
import type { Connection } from '../../state/redis/client.ts';
import { isRefusal, messages } from '../../state/redis/error.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import { checkShape } from '../../state/redis/replies.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import type { Bus } from '../../state/shared/remote-state.ts';
import type { Copy } from './copy.ts';
import { type Epoch, orReplica } from './epoch.ts';
import { numberOf, type Reading, type StoredEntry } from './progress.ts';

const follow = loadScript('follow-5.lua');

const { head, keys, tokens, audit, bans } = keyOf.records;
const LOGS = { audit, bans } as const;

/** Entries and records per reading: few enough not to delay requests. */
const MAX_ENTRIES = 100;
const MAX_RECORDS = 500;
/** Records stored at a time; in memory they take about 3 ms. */
const PAGE_SIZE = 100;
/** Ids and records of a page. */
const PART = 2 * PAGE_SIZE;
/** Milliseconds between two readings, in case that a message was lost. */
const INTERVAL = SECOND;
/** Milliseconds between two attempts to read all records. */
const RETRY_DELAY = SECOND;

class Superseded extends Error {}

interface FollowerOptions {
  readonly epoch: Epoch;
  readonly copy: Copy;
  readonly bus: Bus;
  /** Throws an Outage if Redis cannot be read yet. */
  readonly checkReadable: () => void;
  /** Any key may have changed. */
  readonly changed: () => void;
  /** The copy cannot be written, or Redis not read: it lacks changes from now on. */
  readonly failed: (error: unknown) => void;
  /** Redis has lost entries that the copy has. */
  readonly lost: () => void;
  /** Whether it waits for the first `confirm`. */
  readonly isLazy?: boolean;
}

export type Follower = ReturnType<typeof createFollower>;

/**
 * Keeps the copy of the records in Redis equal to them: it reads the log from the position of the
 * copy. A message only wakes it. If the log does not go on from there, because the position is too
 * old or Redis has lost entries, it reads all records again, while requests are served.
 */
export function createFollower(redis: Connection, options: FollowerOptions) {
  const { epoch, copy, bus, checkReadable, changed, failed, lost } = options;
  const reading = createCoalescedWork(readOn);
  /** The reading of all records; another object is another one. */
  let pass: { readonly done: Promise<void> } | null = null;
  let isStuck = false;
  let isClosed = false;

  const wake = () => void reading.next().catch(report);
  const stopListening = bus.listen(({ type }) => {
    if (type === 'record' || type === 'anything') wake();
  });
  const timer = options.isLazy ? null : setInterval(wake, INTERVAL).unref();
  if (!options.isLazy) wake();

  /** The next reading goes on after an outage, which requests report unless Redis serves them. */
  function report(error: unknown) {
    const isOutage = error instanceof Outage;
    if (isClosed || (isOutage && !isRefused(error.cause))) return;
    isStuck = true;
    failed(isOutage ? error.cause : error);
    changed();
  }

  async function readOn() {
    // At least one reading begins after the call.
    while (await step());
    isStuck = false;
  }

  /** Returns whether there may be more. */
  async function step(): Promise<boolean> {
    if (isClosed) return false;
    checkReadable();
    const at = Date.now();
    const { epoch: mark, ...found } = await readAfter(copy.progress);
    const current = await epoch.check(mark);
    if (isClosed) return false;
    const isSame = current === copy.progress.epoch;
    const wasInterrupted = copy.progress.isPassing && pass === null;
    if (
      !isSame ||
      wasInterrupted ||
      found.audit === null ||
      found.bans === null
    ) {
      if (isSame && copy.progress.isWhole && isLost(found)) lost();
      await beginPass(current);
      return true;
    }
    const { audit, bans } = found;
    let { records } = found;
    // Of an entry with many keys. Without its last part the position stays.
    while (records.length > PART) {
      await copy.write({
        type: 'records',
        records: records.slice(0, PART),
        isNewer: true,
      });
      records = records.slice(PART);
      await setImmediate();
      if (isClosed) return false;
    }
    await copy.take({ ...found, audit, bans, records }, at);
    if (isClosed) return false;
    if (found.records.length > 0) changed();
    return isPart(audit, bans);
  }

  /** Whether the last known entries are missing, and were not dropped for their age or number. */
  function isLost(found: {
    readonly audit: unknown;
    readonly bans: unknown;
    readonly oldest: Reading['oldest'];
  }) {
    return (['audit', 'bans'] as const).some((log) => {
      const number = numberOf(copy.progress[log]);
      return found[log] === null && number > 0 && number >= found.oldest[log];
    });
  }

  async function readAfter({
    audit,
    bans,
  }: Pick<typeof copy.progress, 'audit' | 'bans'>) {
    const names = [head, keys, tokens, LOGS.audit, LOGS.bans];
    const args = [audit, bans, MAX_ENTRIES, MAX_RECORDS];
    return readingIn(
      await orReplica(
        withTimeout(
          checkShape(
            redis,
            'a reading of the log',
            follow(redis, names, args),
            isReply,
          ),
        ),
      ),
    );
  }

  async function beginPass(epoch: string): Promise<void> {
    const [audit, bans] = [await lastIn('audit'), await lastIn('bans')];
    const texts = await withTimeout(redis.hvals(tokens));
    await copy.write({
      type: 'begin',
      begin: { epoch, audit, bans },
      tokens: texts,
    });
    const own = { done: Promise.resolve() };
    pass = Object.assign(own, { done: readAll(() => pass === own) });
    pass.done.catch(() => {});
  }

  async function lastIn(log: 'audit' | 'bans'): Promise<string> {
    const found = await withTimeout(
      redis.xrevrange(LOGS[log], '+', '-', 'COUNT', 1),
    );
    const last = found[0]?.[0];
    if (last !== undefined) return last;
    return `${(await withTimeout(redis.hget(head, log))) ?? 0}-0`;
  }

  /** Tries again until it has read everything, or another reading has begun. */
  async function readAll(isOwn: () => boolean): Promise<void> {
    const { audit, bans } = copy.progress;
    for (;;) {
      try {
        await readOnce({ audit, bans }, isOwn);
        return;
      } catch (error) {
        if (isClosed || !isOwn() || error instanceof Superseded) return;
        if (!(error instanceof Outage)) {
          pass = null;
          failed(error);
          return;
        }
        report(error);
        await pause(RETRY_DELAY, undefined, { ref: false });
      }
    }
  }

  async function readOnce(
    until: { readonly audit: string; readonly bans: string },
    isOwn: () => boolean,
  ) {
    /** Leaves at least half of the time to requests. */
    async function rested(work: () => Promise<unknown>) {
      const began = performance.now();
      await work();
      await pause(performance.now() - began, undefined, { ref: false });
      if (isClosed || !isOwn()) throw new Superseded();
      checkReadable();
    }

    const at = Date.now();
    const pages = scan((cursor) => {
      checkReadable();
      return redis.hscan(keys, cursor, 'COUNT', PAGE_SIZE);
    });
    for await (const page of pages)
      await rested(() =>
        copy.write({ type: 'records', records: page, isNewer: false }),
      );
    for (const log of ['audit', 'bans'] as const) {
      for await (const page of entriesUntil(LOGS[log], until[log]))
        await rested(() => copy.write({ type: 'entries', log, entries: page }));
    }
    for (let after: number | null = 0; after !== null; )
      await rested(async () => {
        after = await copy.write({ type: 'remove', after: after! });
      });
    // What was read is the data of one epoch, and of a master.
    await reading.next();
    if (!isOwn()) throw new Superseded();
    await copy.write({ type: 'end', at });
    pass = null;
    changed();
  }

  async function* entriesUntil(
    log: string,
    until: string,
  ): AsyncGenerator<StoredEntry[]> {
    for (let from = '-'; ; ) {
      const found = await withTimeout(
        redis.xrange(log, from, until, 'COUNT', MAX_ENTRIES),
      );
      yield found;
      if (found.length < MAX_ENTRIES) return;
      from = `(${found.at(-1)![0]}`;
    }
  }

  return {
    /** Resolves when the copy has every change made before the call. */
    confirm: () => reading.next(),
    /** `null`: no reading of all records is in progress. */
    get pass() {
      return pass?.done ?? null;
    },
    /** Whether it cannot read on, while Redis takes changes. */
    get isStuck() {
      return isStuck;
    },
    wake,
    close() {
      isClosed = true;
      pass = null;
      stopListening();
      if (timer) clearInterval(timer);
    },
  };
}

/** Whether Redis responds, and only an operator can help. */
const isRefused = (cause: unknown) =>
  isRefusal(cause) || /WRONGTYPE|can't run this command/.test(messages(cause));

/** Throws if Redis refuses what a reading of records needs. */
export async function tryReading(redis: Connection): Promise<void> {
  const none = '0-0';
  await follow(redis, [head, keys, tokens, audit, bans], [none, none, 1, 1]);
  await redis.xrevrange(audit, '+', '-', 'COUNT', 1);
  await redis.hscan(keys, '0', 'COUNT', 1);
}

/** Whether a reading may have ended at one of its bounds. */
function isPart(audit: readonly StoredEntry[], bans: readonly StoredEntry[]) {
  const ids = audit.flatMap(([, fields]) =>
    fields[2] === 'keys' ? (fields[3] ?? '').split(' ') : [],
  );
  return (
    audit.length >= MAX_ENTRIES ||
    bans.length >= MAX_ENTRIES ||
    ids.length >= MAX_RECORDS
  );
}

type Reply = readonly [
  epoch: string | null,
  audit: StoredEntry[] | null,
  bans: StoredEntry[] | null,
  records: string[],
  tokens: string[] | null,
  oldestAudit: string | null,
  oldestBan: string | null,
];

function readingIn([epoch, audit, bans, records, tokens, ...oldest]: Reply) {
  const [oldestAudit, oldestBan] = oldest.map((id) => numberOf(id ?? '0'));
  return {
    epoch,
    audit,
    bans,
    records,
    tokens,
    oldest: { audit: oldestAudit!, bans: oldestBan! },
  } satisfies Partial<Record<keyof Reading | 'epoch', unknown>>;
}

const isTexts = listOf(isText);
const isEntry: Is = (value): value is unknown =>
  Array.isArray(value) &&
  /^\d+-\d+$/.test(String(value[0])) &&
  isTexts(value[1]) &&
  value[1].length >= 2;
const isEntries = listOf(isEntry);
const SHAPE = [
  orNull(isText),
  orNull(isEntries),
  orNull(isEntries),
  isTexts,
  orNull(isTexts),
  orNull(isText),
  orNull(isText),
];

function isReply(reply: unknown): reply is Reply {
  return (
    Array.isArray(reply) &&
    reply.length === SHAPE.length &&
    SHAPE.every((is, i) => is(reply[i]))
  );
}
