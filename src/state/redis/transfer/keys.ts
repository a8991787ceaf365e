import { hashesOf, type KeyRecord } from '../../../keys/key.ts';
import type { Outcome } from '../../transfer/records.ts';
import { decideKey, somethingElse } from '../../transfer/rules.ts';
import { getAll, scriptOnAll } from '../bulk.ts';
import type { Connection } from '../client.ts';
import { enterLists, leaveLists, listsLeft } from '../key-index.ts';
import { keyOf } from '../key-names.ts';
import { ownsHash, recordAt, recordsAt } from '../key-records.ts';
import { withLocks } from '../lock.ts';
import { isChanged } from '../replies.ts';
import { loadScript, runScript } from '../scripts.ts';
import { withTimeout } from '../timeouts.ts';

const CHANGE = loadScript('change-1.lua');
const NEW = loadScript('new-n.lua');
const ANY_OLDER = '';
const DONE = 1;

interface KeyDecision {
  readonly key: KeyRecord;
  /** Hash of the record; `null`: unknown id. */
  readonly at: string | null;
  readonly stored: KeyRecord | null;
  readonly taken: Outcome;
}

/**
 * In a Cluster a key's parts are in different slots, so the record, which makes a key usable, is
 * written last. A repeated import completes an interrupted one.
 */
export async function takeKeys(
  redis: Connection,
  keys: readonly KeyRecord[],
  dryRun: boolean,
): Promise<Outcome[]> {
  const judged = await judge(redis, keys);
  if (dryRun) return judged.map(({ taken }) => taken);
  const added = judged.filter(({ taken }) => taken === 'added').map(({ key }) => key);
  await add(redis, added);
  for (const one of judged) {
    const { key, at, taken } = one;
    if (taken === 'same' && at !== key.hash)
      await withLocks(redis, [key.id], () => lead(redis, key, at!));
    if (taken === 'changed') await change(redis, one);
  }
  return judged.map(({ taken }) => taken);
}

async function judge(redis: Connection, keys: readonly KeyRecord[]): Promise<KeyDecision[]> {
  const ids = keys.map(({ id }) => keyOf.apiKeyId(id));
  const leads = await getAll(redis, ids);
  const hashes = [
    ...new Set([...keys.flatMap(hashesOf), ...leads.filter((hash) => hash !== null)]),
  ];
  const found = await recordsAt(redis, hashes);
  const records = new Map(hashes.map((hash, i) => [hash, found[i]!]));
  return keys.map((key, i) => {
    const at = leads[i]!;
    const record = at === null ? null : records.get(at)!;
    const stored = record?.id === key.id ? record : null;
    const owners = hashesOf(key).map((hash) => {
      const owner = records.get(hash)!;
      return owner && ownsHash(owner, hash) ? owner : null;
    });
    // An id without its record is completed by this import.
    if (at !== null && stored === null && at !== key.hash)
      throw somethingElse(
        `in the target, the id ${key.id} is that of a key with another secret, which was never finished`,
      );
    return { key, at, stored, taken: decideKey(key, stored, owners) };
  });
}

/** Throws TransferError if another process has started to add different keys. */
async function add(redis: Connection, keys: readonly KeyRecord[]): Promise<void> {
  if (keys.length === 0) return;
  if (keys.some(({ imported }) => imported)) await withTimeout(redis.set(keyOf.imported, '1'));
  const ids = keys.map(({ id, hash }) => ({ key: keyOf.apiKeyId(id), args: [hash] }));
  const begun = await scriptOnAll(redis, NEW, ids);
  await enterLists(redis, keys);
  await withTimeout(
    redis.zadd(keyOf.apiKeys, ...keys.flatMap(({ id, createdAt }) => [createdAt, id])),
  );
  // The record of the id comes last: it shows a repeated import that nothing remains to do.
  const earlier = keys.flatMap((key) => (key.previous ? [{ key, hash: key.previous.hash }] : []));
  const records = [...earlier, ...keys.map((key) => ({ key, hash: key.hash }))];
  const put = ({ key, hash }: (typeof records)[number]) => ({
    key: keyOf.apiKey(hash),
    args: [JSON.stringify(key)],
  });
  const written = await scriptOnAll(redis, NEW, earlier.map(put));
  written.push(...(await scriptOnAll(redis, NEW, records.slice(earlier.length).map(put))));
  // This holds no locks: a repair may have taken keys without a record out of their lists.
  await enterLists(redis, keys);
  const inDoubt = new Set([
    ...keys.filter((_, i) => begun[i] !== DONE),
    ...records.filter((_, i) => written[i] !== DONE).map(({ key }) => key),
  ]);
  // Keys that are complete now were incomplete before.
  if (inDoubt.size > 0) await judge(redis, [...inDoubt]);
}

/**
 * Throws TransferError without changes after a concurrent change to the same or a later version.
 * The record of the id is written last, as in `add`.
 */
async function change(redis: Connection, { key, at }: KeyDecision): Promise<void> {
  await withLocks(redis, [key.id, key.hash], async () => {
    const there = await recordAt(redis, at!);
    if (there?.id !== key.id || there.version >= key.version) throw newer(key);
    const text = JSON.stringify(key);
    const replace = (hash: string) =>
      withTimeout(runScript(redis, CHANGE, [keyOf.apiKey(hash)], [ANY_OLDER, text]));
    if (key.imported) await withTimeout(redis.set(keyOf.imported, '1'));
    await enterLists(redis, [key]);
    for (const hash of hashesOf(key).filter((one) => one !== at)) {
      if ((await withTimeout(redis.setnx(keyOf.apiKey(hash), text))) !== DONE) await replace(hash);
    }
    const forgotten = hashesOf(there).filter(
      (hash) => hash !== at && !hashesOf(key).includes(hash),
    );
    for (const hash of forgotten) await withTimeout(redis.del(keyOf.apiKey(hash)));
    if (!isChanged(await replace(at!))) throw newer(key);
    await leaveLists(redis, key.id, listsLeft(there, key));
    await lead(redis, key, at!);
  });
}

function newer({ id }: KeyRecord): Error {
  return somethingElse(`key ${id} was changed in the target`);
}

/** Points the id to the key's hash instead of `at`. */
async function lead(redis: Connection, key: KeyRecord, at: string): Promise<void> {
  await withTimeout(redis.set(keyOf.apiKeyId(key.id), key.hash));
  if (!hashesOf(key).includes(at)) await withTimeout(redis.del(keyOf.apiKey(at)));
}
