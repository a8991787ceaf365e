import { createCache } from '../../common/cache.ts';
import { createDelayedRun } from '../../common/delayed-run.ts';
import type { Ban } from '../state.ts';
import { countedSubjects, mastersOf } from './bulk.ts';
import type { Connection } from './client.ts';
import { keyOf } from './key-names.ts';
import { loadScript } from './scripts.ts';

const addBans = loadScript('banned-1.lua');

/** Bans in one step. */
const BATCH = 1_000;
/** Maximum bans remembered as indexed, and maximum queued bans. */
const MAX_RECORDED = 20_000;
/** Milliseconds. */
const RETRY_DELAY = 1_000;

/** Unix milliseconds; `''`: the clock of Redis. */
type Clock = () => number | string;

type EndOfBan = Pick<Ban, 'subject' | 'until'>;

/**
 * Index of banned subjects, because a scan of all counters takes seconds. Only the counters are
 * authoritative, so each indexed ban is checked there.
 */
export function banListIn(
  redis: Connection,
  clock: Clock,
  banOf: (subject: string) => Promise<Ban | null>,
) {
  const noted = createCache<number>(MAX_RECORDED);
  let open = new Map<string, number>();
  const next = createDelayedRun(() => void flush(), RETRY_DELAY);

  async function flush() {
    const taken = open;
    open = new Map();
    try {
      await add([...taken].map(([subject, until]) => ({ subject, until })));
    } catch {
      // Bans that fit in the queue are retried, others when their subject is refused again.
      for (const [subject, until] of taken) {
        if (open.size >= MAX_RECORDED) noted.delete(subject);
        else if (!open.has(subject)) open.set(subject, until);
      }
      next.plan();
    }
  }

  const add = (bans: readonly EndOfBan[]) => indexBans(redis, bans, clock);

  async function* indexed(): AsyncGenerator<string[]> {
    const subjects = await redis.zrange(keyOf.bans, '0', '-1');
    for (let at = 0; at < subjects.length; at += BATCH)
      yield subjects.slice(at, at + BATCH);
  }

  /** The first call scans all counters, for bans older than the index. */
  async function list(): Promise<Ban[]> {
    const isWhole = (await redis.exists(keyOf.bansWhole)) === 1;
    // SCAN may return a name twice.
    const banned = new Map<string, Ban>();
    for await (const subjects of isWhole ? indexed() : countedSubjects(redis)) {
      const found = await Promise.all(subjects.map(banOf));
      for (const ban of found) if (ban !== null) banned.set(ban.subject, ban);
    }
    const bans = [...banned.values()];
    if (isWhole) return bans;
    await add(bans);
    await redis.set(keyOf.bansWhole, '1');
    return bans;
  }

  return {
    /** Queues a ban for the index. `until` in Unix milliseconds. */
    note(subject: string, until: number) {
      if (noted.get(subject) === until) return;
      noted.set(subject, until);
      if (open.size === 0) setImmediate(() => void flush());
      open.set(subject, until);
    },
    add,
    list,
    /**
     * Marks the index of a nearly empty Redis as complete, so that the first list needs no scan
     * later.
     */
    async markWhole() {
      if (await redis.exists(keyOf.bansWhole)) return;
      const sizes = await Promise.all(
        mastersOf(redis).map((node) => node.dbsize()),
      );
      if (sizes.reduce((sum, size) => sum + size, 0) <= BATCH) await list();
    },
    close() {
      next.close();
      return flush();
    },
  };
}

/** Rejects if Redis does not respond. */
export async function indexBans(
  redis: Connection,
  bans: readonly EndOfBan[],
  clock: Clock = () => '',
): Promise<void> {
  for (let at = 0; at < bans.length; at += BATCH) {
    const step = bans
      .slice(at, at + BATCH)
      .flatMap(({ subject, until }) => [until, subject]);
    await addBans(redis, [keyOf.bans], [clock(), ...step]);
  }
}
