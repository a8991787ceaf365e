import { randomUUID } from 'node:crypto';
import { DAY } from '../../common/time.ts';
import {
  type Commit,
  type StoredPart,
  TurnLost,
  type UsageStore,
} from '../../ledger/store.ts';
import { BULK_TIMEOUT } from './bulk.ts';
import type { Connection } from './client.ts';
import { keyOf, LOCK_TTL } from './key-names.ts';
import { limitLifetime } from './lifetimes.ts';
import { checkShape, isInteger, isList, isTextList } from './replies.ts';
import { loadBinaryScript, loadScript } from './scripts.ts';
import { timeOf } from './time.ts';
import { withTimeout } from './timeouts.ts';

const putParts = loadScript('parts-2.lua');
const readUsage = loadBinaryScript('usage-2.lua');
const commitSums = loadScript('commit-n.lua');

/** Milliseconds of a turn. */
const TURN = 3 * LOCK_TTL;
/** Milliseconds until parts of an outage go to the data folder. */
const PUT_TIMEOUT = 500;
/** Milliseconds before a failover that Redis may lose. */
const MAY_LOSE = 10_000;
/** Milliseconds for which parts are refused that a sum took of a silent process. */
const TAKEN_TTL = 40 * DAY;
const NAMES_AT_ONCE = 1_000;

const {
  parts: PARTS,
  taken: TAKEN,
  sizes: SIZES,
  turn: TURN_KEY,
  sum: sumKey,
} = keyOf.usage;

/** Of a Redis that no gateway uses. */
export async function removeUsage(redis: Connection): Promise<void> {
  const sums = Object.keys(await withTimeout(redis.hgetall(SIZES)));
  const names = [PARTS, TAKEN, TURN_KEY, ...sums.map(sumKey), SIZES];
  for (let at = 0; at < names.length; at += NAMES_AT_ONCE)
    await withTimeout(redis.unlink(...names.slice(at, at + NAMES_AT_ONCE)));
}

/** All in one slot. Every gateway reads and writes the same data. */
export function usageInRedis(redis: Connection): UsageStore {
  const commitWith =
    (token: string): Commit =>
    async (sums, parts) => {
      const keys = [
        TURN_KEY,
        PARTS,
        TAKEN,
        SIZES,
        ...[...sums.keys()].map(sumKey),
      ];
      const contents = [...sums].flatMap(([name, sum]) => [name, sum ?? '']);
      const taken = [...parts].flatMap(([name, requests]) => [
        name,
        requests === null ? '' : String(requests),
      ]);
      await run(keys, [token, TAKEN_TTL, ...contents, ...taken]);
    };

  async function run(
    keys: readonly string[],
    args: readonly (string | number | Buffer)[],
  ) {
    const reply = commitSums(redis, keys, args);
    const work = checkShape(redis, 'commit', reply, isInteger);
    if ((await withTimeout(work, BULK_TIMEOUT)) === 0)
      throw new TurnLost('the turn has ended');
  }

  return {
    mayLose: MAY_LOSE,
    async put(given, isLast = false) {
      const reply = putParts(
        redis,
        [PARTS, TAKEN],
        [isLast ? '1' : '0', ...[...given].flat()],
      );
      const work = checkShape(redis, 'parts', reply, isTextList);
      const { taken = [], added = [] } = Object.groupBy(
        pairsOf(await withTimeout(work, PUT_TIMEOUT)),
        ([, requests]) => (requests === '' ? 'added' : 'taken'),
      );
      return {
        taken: taken.map(([name, n]) => ({ name, requests: Number(n) })),
        added: new Set(added.map(([name]) => name)),
      };
    },
    async index() {
      const reply = readUsage(redis, [PARTS, SIZES], []);
      const work = checkShape(redis, 'usage', reply, isUsage);
      const [now, parts, sizes] = await withTimeout(work, BULK_TIMEOUT);
      return {
        parts: new Map(
          pairsOf(parts).map(([name, stored]) => [
            name.toString(),
            partOf(stored, now),
          ]),
        ),
        sizes: new Map(
          pairsOf(sizes).map(([name, size]) => [
            name.toString(),
            Number(size.toString()),
          ]),
        ),
      };
    },
    async read(names) {
      if (names.length === 0) return [];
      const found = redis.mgetBuffer(...names.map(sumKey));
      const sums = await withTimeout(
        checkShape(redis, 'sums', found, isList),
        BULK_TIMEOUT,
      );
      return sums as (Buffer | null)[];
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
      // Removes the turn like a sum; after an error it expires.
      await run(
        [TURN_KEY, PARTS, TAKEN, SIZES, TURN_KEY],
        [token, TAKEN_TTL, '', ''],
      );
    },
    close: async () => {},
  };
}

/** Behind its time; 0: its process has ended. */
function partOf(stored: Buffer, now: number): StoredPart {
  const end = stored.indexOf(' ');
  const at = Number(stored.toString('latin1', 0, end));
  const age = at === 0 ? Number.POSITIVE_INFINITY : Math.max(0, now - at);
  return { bytes: stored.subarray(end + 1), age };
}

const isUsage = (reply: unknown): reply is [number, Buffer[], Buffer[]] =>
  isList(reply) && isInteger(reply[0]) && isList(reply[1]) && isList(reply[2]);

const pairsOf = <T>(flat: readonly T[]): [T, T][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [
    flat[2 * i]!,
    flat[2 * i + 1]!,
  ]);
