import { Outage } from '../../common/errors/outage.ts';
import type { Connection } from '../../state/redis/client.ts';
import { formatFault, markData } from '../../state/redis/data-mark.ts';
import { messages } from '../../state/redis/error.ts';
import { withTimeout } from '../../state/redis/timeouts.ts';
import { DataError } from '../../state/state.ts';

/**
 * Milliseconds of other data on one connection before the known data counts as lost. Sentinels
 * demote a restarted master sooner.
 */
const LOST_AFTER = 30_000;

export type Epoch = ReturnType<typeof epochOf>;

interface EpochOptions {
  /** Called when data is accepted in place of the known data. */
  readonly lost: () => void;
  /** Called when other data than the known data is seen, and when that has ended. */
  readonly doubted?: (isDoubted: boolean) => void;
  /**
   * The epoch of a copy, which is the known data: a Redis with another one may have lost it, and
   * another gateway has marked what is left.
   */
  readonly before?: string | null;
  /** Monotonic milliseconds. */
  readonly clock?: () => number;
}

/**
 * The data that this gateway has a copy of, or that Redis had at the start. A Redis that came up
 * without it, or a replica, may lack records: what it does not have is not known to be missing.
 */
export function epochOf(
  redis: Connection,
  {
    lost,
    doubted = () => {},
    before = null,
    clock = () => performance.now(),
  }: EpochOptions,
) {
  let current = before;
  let otherSince: number | null = null;
  const reconnected = () => doubt(null);
  // A Cluster closes with its last node only.
  redis.on('close', reconnected).on('-node', reconnected);

  function doubt(since: number | null): void {
    const isDoubted = since !== null;
    if (isDoubted !== (otherSince !== null)) doubted(isDoubted);
    otherSince = since;
  }

  /** Accepts the data as it is, and marks it if it has no mark. Throws DataError. */
  async function learn(): Promise<string> {
    const mark = await withTimeout(markData(redis));
    // Data of another version may come up in its place.
    const fault = mark === null ? null : formatFault(mark);
    if (fault !== null) throw new DataError(fault);
    current = mark;
    doubt(null);
    return mark!;
  }

  return {
    /** At a start. Throws as `check`. */
    async begin(): Promise<void> {
      if (current === null) await orReplica(learn());
    },
    known: async () => current ?? (await orReplica(learn())),
    /**
     * `epoch`: of a reply. Resolves with the epoch of the data that Redis has from now on. Throws an
     * Outage if Redis may not have its data yet.
     */
    async check(epoch: string | null): Promise<string> {
      if (epoch !== null && epoch === current) {
        doubt(null);
        return epoch;
      }
      if (current !== null) {
        const since = otherSince ?? clock();
        doubt(since);
        if (clock() - since < LOST_AFTER) throw missing();
        lost();
      }
      return await orReplica(learn());
    },
  };
}

/** Redis refuses `work` because it is a replica, as a DataError reports. */
export async function orReplica<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const cause = error instanceof Outage ? error.cause : error;
    if (error instanceof DataError)
      throw new Outage('state_unavailable', { cause: error });
    if (!messages(cause).includes('READONLY')) throw error;
    throw new Outage('state_unavailable', {
      cause: new DataError(
        'Redis is a replica: it may not have the newest keys',
      ),
    });
  }
}

export function missing(): Outage {
  return new Outage('state_unavailable', {
    cause: new DataError(
      'Redis may have come up without its data: requests with keys that it does not have get 503',
    ),
  });
}
