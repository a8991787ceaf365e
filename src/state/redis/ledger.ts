import { randomUUID } from 'node:crypto';
import { type Commit, type LedgerStore, TurnLost } from '../../ledger/store.ts';
import { BULK_TIMEOUT } from './bulk.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_TTL } from './key-names.ts';
import { limitLifetime } from './lifetimes.ts';
import { checkShape, isInteger, isList } from './replies.ts';
import { loadScript } from './scripts.ts';
import { timeOf } from './time.ts';
import { withTimeout } from './timeouts.ts';

const commitBlocks = loadScript('commit-n.lua');

/** Milliseconds of a turn. */
const TURN = 3 * LOCK_TTL;
/** Milliseconds until slices of an outage go to the data folder. */
const ADD_TIMEOUT = 500;
/** A longer step would delay requests. */
const SLICES_AT_ONCE = 200;
const NAMES_AT_ONCE = 1_000;

const {
  slices: SLICES,
  sizes: SIZES,
  turn: TURN_KEY,
  block: blockKey,
} = keyOf.ledger;

/** Of a Redis that no gateway uses. */
export async function removeLedger(redis: Connection): Promise<void> {
  const blocks = Object.keys(await withTimeout(redis.hgetall(SIZES)));
  const names = [SLICES, TURN_KEY, ...blocks.map(blockKey), SIZES];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE)
    await withTimeout(redis.unlink(...names.slice(at, at + NAMES_AT_ONCE)));
}

/** All in one slot. Every gateway reads and writes the same data. */
export function ledgerInRedis(redis: Connection): LedgerStore {
  const commitWith =
    (token: string): Commit =>
    async (blocks, slices) => {
      const names = [...blocks.keys()];
      const contents = [...blocks].flatMap(([name, block]) => [
        name,
        block ?? '',
      ]);
      const keys = [TURN_KEY, SLICES, SIZES, ...names.map(blockKey)];
      const first = slices.slice(0, SLICES_AT_ONCE);
      await run(keys, [token, ...contents, ...first]);
      // What the blocks contain counts once, so the rest may follow.
      for (let at = SLICES_AT_ONCE; at < slices.length; at += SLICES_AT_ONCE)
        await run(keys.slice(0, 3), [
          token,
          ...slices.slice(at, at + SLICES_AT_ONCE),
        ]);
    };

  async function run(
    keys: readonly string[],
    args: readonly (string | Buffer)[],
  ) {
    const work = checkShape(
      redis,
      'commit',
      commitBlocks(redis, keys, args),
      isInteger,
    );
    if ((await withTimeout(work, BULK_TIMEOUT)) === 0)
      throw new TurnLost('the turn has ended');
  }

  return {
    async add(slices) {
      const fields = [...slices].flat();
      if (fields.length === 0) return 0;
      return await withTimeout(redis.hset(SLICES, ...fields), ADD_TIMEOUT);
    },
    async slices() {
      const work = redis.hgetallBuffer(SLICES);
      return new Map(Object.entries(await withTimeout(work, BULK_TIMEOUT)));
    },
    async sizes() {
      const sizes = Object.entries(await withTimeout(redis.hgetall(SIZES)));
      return new Map(sizes.map(([name, size]) => [name, Number(size)]));
    },
    async read(names) {
      if (names.length === 0) return [];
      const found = redis.mgetBuffer(...names.map(blockKey));
      const blocks = await withTimeout(
        checkShape(redis, 'blocks', found, isList),
        BULK_TIMEOUT,
      );
      return blocks as (Buffer | null)[];
    },
    now: () => timeOf(redis),
    async inTurn(work) {
      const token = randomUUID();
      if (
        (await withTimeout(redis.set(TURN_KEY, token, 'PX', TURN, 'NX'))) ===
        null
      ) {
        await limitLifetime(redis, TURN_KEY, TURN);
        return;
      }
      await work(commitWith(token));
      // Removes the turn like a block; after an error it expires.
      await run([TURN_KEY, SLICES, SIZES, TURN_KEY], [token, '', '']);
    },
    close: async () => {},
  };
}
