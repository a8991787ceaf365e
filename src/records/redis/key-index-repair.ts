import { setTimeout as pause } from 'node:timers/promises';
import { Outage } from '../../common/errors/outage.ts';
import { DAY, MINUTE } from '../../common/time.ts';
import type { Connection } from '../../state/redis/client.ts';
import { isRefusal } from '../../state/redis/error.ts';
import { keyOf } from '../../state/redis/key-names.ts';
import {
  holdLock,
  releaseLock,
  tryLock,
  withLocks,
} from '../../state/redis/lock.ts';
import { loadScript } from '../../state/redis/scripts.ts';
import { timeOf } from '../../state/redis/time.ts';
import { allWithTimeout, withTimeout } from '../../state/redis/timeouts.ts';
import {
  enterLists,
  idsAfter,
  isListed,
  type KeyPosition,
  namesAfter,
  WHOLE,
} from './key-index.ts';
import { keysOf, keyWithId, lenient, textAt } from './key-records.ts';

const moveMark = loadScript('move-1.lua');

/** Keys per step, and milliseconds between steps: few enough not to delay requests. */
const STEP = 200;
const STEP_DELAY = 10;
/** Names of plans per read. */
const NAMES = 1_000;
/** Milliseconds between two looks whether a pass is due, and between two passes. */
const LOOK_INTERVAL = MINUTE;
const PASS_INTERVAL = DAY;

/**
 * Fields of `keyOf.keyIndex`: the last key that a pass has entered, the end of the last pass, and
 * `missingIn` then.
 */
const AFTER = 'after';
const CHECKED = 'checked';
const MISSING = 'missing';
const LOCK = 'key-index';

class Ended extends Error {}

interface KeyIndexOptions {
  /** Whether Redis has passed the startup checks. */
  readonly isFit: () => boolean;
  readonly failed: (error: unknown) => void;
}

/**
 * Builds the lists of keys in the background, and repairs them once a day and if keys are missing.
 * One gateway at a time does it; another one continues if it ends. Returns a function that stops
 * it.
 */
export function maintainKeyIndex(
  redis: Connection,
  { isFit, failed }: KeyIndexOptions,
): () => void {
  let isEnded = false;
  let isRunning = false;

  async function step() {
    await pause(STEP_DELAY, undefined, { ref: false });
    if (isEnded) throw new Ended();
    await holdLock(redis, LOCK);
  }

  async function look() {
    if (isRunning || !isFit()) return;
    isRunning = true;
    try {
      if (!(await isRepairDue(redis)) || !(await tryLock(redis, LOCK))) return;
      await repairKeyIndex(redis, step).finally(() => releaseLock(redis, LOCK));
    } catch (error) {
      const reason = error instanceof Outage ? error.cause : error;
      // Requests report an outage, and the next look continues the pass.
      if (!isEnded && (reason === error || isRefusal(reason))) failed(reason);
    } finally {
      isRunning = false;
    }
  }

  void look();
  const timer = setInterval(() => void look(), LOOK_INTERVAL).unref();
  return () => {
    isEnded = true;
    clearInterval(timer);
  };
}

/** Whether the lists are not built, were not repaired for a day, or lack keys. */
export async function isRepairDue(redis: Connection): Promise<boolean> {
  const [whole, checked, missing] = await withTimeout(
    redis.hmget(keyOf.keyIndex, WHOLE, CHECKED, MISSING),
  );
  if (whole !== '1' || checked === null) return true;
  const age = (await timeOf(redis)) - Number(checked);
  return (
    age < 0 ||
    age >= PASS_INTERVAL ||
    (await missingIn(redis)) > Number(missing)
  );
}

/**
 * Keys that are in no list of a plan. It grows if a gateway of an older version adds keys, or if a
 * failover loses entries; incomplete keys stay.
 */
async function missingIn(redis: Connection): Promise<number> {
  const all = await withTimeout(redis.zcard(keyOf.apiKeys));
  let listed = 0;
  for await (const plans of planNames(redis)) {
    const commands = plans.map((plan) => ['zcard', keyOf.keysOfPlan(plan)]);
    for (const size of await allWithTimeout(redis, commands))
      listed += size as number;
  }
  return all - listed;
}

/**
 * Continues a pass that was interrupted. `step` runs between two steps and throws to interrupt it.
 */
export async function repairKeyIndex(
  redis: Connection,
  step: () => Promise<void>,
): Promise<void> {
  if (!(await enterAll(redis, step))) return;
  for await (const list of lists(redis)) await removeSurplus(redis, list, step);
  const fields = {
    [MISSING]: await missingIn(redis),
    [CHECKED]: await timeOf(redis),
  };
  await withTimeout(redis.hset(keyOf.keyIndex, fields));
}

/**
 * Enters every key into its lists. Returns false if the index was forgotten, or another gateway has
 * gone on.
 */
async function enterAll(
  redis: Connection,
  step: () => Promise<void>,
): Promise<boolean> {
  let place = (await withTimeout(redis.hget(keyOf.keyIndex, AFTER))) ?? '';
  for (;;) {
    const after = place === '' ? null : (JSON.parse(place) as KeyPosition);
    const found = await idsAfter(redis, keyOf.apiKeys, { after, size: STEP });
    const ids = found.map(({ id }) => id);
    await enterLists(redis, await keysOf(redis, ids, lenient));
    const next = found.length === 0 ? place : JSON.stringify(found.at(-1));
    const moved = await withTimeout(
      moveMark(redis, [keyOf.keyIndex], [AFTER, place, next]),
    );
    if (moved !== 1) return false;
    if (found.length < STEP) break;
    place = next;
    await step();
  }
  await withTimeout(redis.hset(keyOf.keyIndex, WHOLE, '1'));
  await withTimeout(redis.hdel(keyOf.keyIndex, AFTER));
  return true;
}

/**
 * Lists whose lengths are counted. An entry too many of an account only costs its reader a look.
 */
async function* lists(redis: Connection): AsyncGenerator<string> {
  yield keyOf.expiringKeys;
  for await (const plans of planNames(redis)) {
    for (const plan of plans) {
      yield keyOf.keysOfPlan(plan);
      yield keyOf.revokedKeysOfPlan(plan);
    }
  }
}

async function* planNames(
  redis: Connection,
): AsyncGenerator<readonly string[]> {
  for (let last = ''; ; ) {
    const names = await namesAfter(redis, keyOf.plans, last, NAMES);
    yield names;
    if (names.length < NAMES) return;
    last = names.at(-1)!;
  }
}

async function removeSurplus(
  redis: Connection,
  list: string,
  step: () => Promise<void>,
): Promise<void> {
  for (let after: KeyPosition | null = null; ; await step()) {
    const found: KeyPosition[] = await idsAfter(redis, list, {
      after,
      size: STEP,
    });
    const ids = found.map(({ id }) => id);
    const listed = (await keysOf(redis, ids, lenient)).filter((record) =>
      isListed(record, list),
    );
    const isRight = new Set(listed.map(({ id }) => id));
    for (const id of ids)
      if (!isRight.has(id)) await removeEntry(redis, list, id);
    if (found.length < STEP) return;
    after = found.at(-1)!;
  }
}

/** Under the locks of the key, so that no change enters it between the look and the removal. */
async function removeEntry(
  redis: Connection,
  list: string,
  id: string,
): Promise<void> {
  const hash = await withTimeout(textAt(redis, keyOf.apiKeyId(id)));
  await withLocks(redis, hash === null ? [id] : [id, hash], async () => {
    const key = await keyWithId(redis, id, lenient);
    if (key === null || !isListed(key.record, list))
      await withTimeout(redis.zrem(list, id));
  });
}
