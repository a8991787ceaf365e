import { Outage } from '../../errors/outage.ts';
import { type KeyRecord, readRecord } from '../../keys/key.ts';
import { KeyConflict, KeyTaken } from '../../keys/store.ts';
import { LedgerError } from '../state.ts';
import { changeOutcome } from './answers.ts';
import { asked } from './asking.ts';
import type { Connection } from './client.ts';
import type { LookUp } from './data-mark.ts';
import { CHANNEL, keyOf } from './key-names.ts';
import { keyChanged } from './messages.ts';
import { loadScript, runScript } from './scripts.ts';
import { isTextOrNull, shaped } from './shapes.ts';

const CHANGE = loadScript('change-1.lua');

/** A change of a key that can be made again where nobody knows whether it was made. */
export interface KeyChange {
  readonly record: KeyRecord;
  /** Where the record stands, by its hash; `null`: the key is new. */
  readonly at: string | null;
  /** Hashes of the secrets that the key forgets. */
  readonly forgotten: readonly string[];
}

/**
 * Plans how a key is added. Throws KeyTaken. An id that leads to no record is taken too: its key was begun, and may yet be
 * finished.
 */
export async function planNewKey(redis: Connection, record: KeyRecord): Promise<KeyChange> {
  if ((await hashOf(redis, record.id)) !== null) throw idTaken(record);
  await refuseTakenHash(redis, record);
  return { record, at: null, forgotten: [] };
}

/** Plans how a record takes the place of the one before. Throws KeyConflict, KeyTaken, and where there is no such key. */
export async function planNextRecord(redis: Connection, record: KeyRecord): Promise<KeyChange> {
  const at = await hashOf(redis, record.id);
  const before = at === null ? null : await recordAt(redis, at);
  if (at === null || before?.id !== record.id) throw new Error(`there is no key ${record.id}`);
  if (before.version !== record.version - 1) throw changedMeanwhile(record);
  await refuseTakenHash(redis, record);
  const forgotten = [before.hash, before.previous?.hash].filter(
    (hash): hash is string => hash !== undefined && hash !== record.hash && hash !== record.previous?.hash,
  );
  return { record, at, forgotten };
}

/** Makes a change that may have been made already, whole or in part. Throws KeyTaken, KeyConflict. */
export async function applyKeyChange(redis: Connection, { record, at, forgotten }: KeyChange): Promise<void> {
  if (record.imported) await asked(redis.set(keyOf.imported, '1'));
  if (at === null) await addKey(redis, record);
  else await moveKey(redis, record, at);
  for (const hash of forgotten) await asked(redis.del(keyOf.apiKey(hash)));
  for (const hash of new Set([record.hash, record.previous?.hash, at, ...forgotten])) {
    if (hash) await asked(redis.publish(CHANNEL, keyChanged(hash)));
  }
}

/** The hash under which the record of an id stands; `null`: there is no such key. */
export function hashOf(redis: Connection, id: string): Promise<string | null> {
  return asked(textAt(redis, keyOf.apiKeyId(id)));
}

/** The record under a hash. Throws an Outage whose cause is a LedgerError if the name holds no record. */
export async function recordAt(redis: Connection, hash: string): Promise<KeyRecord | null> {
  const name = keyOf.apiKey(hash);
  return recordIn(name, await asked(textAt(redis, name)));
}

/** The record in the text under a name. Throws as `recordAt`. */
export function recordIn(name: string, text: string | null): KeyRecord | null {
  try {
    return text === null ? null : readRecord(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const cause = new LedgerError(`the Redis key ${name} holds something that is not the record of a key: delete it`);
    throw new Outage('state_unavailable', { cause });
  }
}

function textAt(redis: Connection, name: string): Promise<string | null> {
  return shaped(redis, 'a look-up of a key', redis.get(name), isTextOrNull);
}

/** Looks up whatever a Redis has, for whoever knows no mark of its data. */
export const textIn =
  (redis: Connection): LookUp =>
  (name) =>
    textAt(redis, name);

async function addKey(redis: Connection, record: KeyRecord): Promise<void> {
  const id = keyOf.apiKeyId(record.id);
  if ((await asked(redis.set(id, record.hash, 'NX'))) === null && (await asked(redis.get(id))) !== record.hash) {
    throw idTaken(record);
  }
  await asked(redis.zadd(keyOf.apiKeys, String(record.createdAt), record.id));
  await take(redis, record);
}

/** The record is changed where it stands, which decides between two changes at once. Then it moves with its secret. */
async function moveKey(redis: Connection, record: KeyRecord, at: string): Promise<void> {
  const answer = await asked(
    runScript(redis, CHANGE, [keyOf.apiKey(at)], [record.version - 1, JSON.stringify(record)]),
  );
  if (changeOutcome(answer) !== 'changed' && !(await wasMade(redis, record, at))) throw changedMeanwhile(record);
  if (record.hash !== at) {
    await take(redis, record);
    await asked(redis.set(keyOf.apiKeyId(record.id), record.hash));
  }
  if (record.previous && record.previous.hash !== at) {
    // Its copy must not take the place of that of a later change.
    await asked(runScript(redis, CHANGE, [keyOf.apiKey(record.previous.hash)], ['', JSON.stringify(record)]));
  }
}

async function wasMade(redis: Connection, record: KeyRecord, at: string): Promise<boolean> {
  const text = JSON.stringify(record);
  for (const hash of [at, record.hash]) if (JSON.stringify(await recordAt(redis, hash)) === text) return true;
  return false;
}

async function take(redis: Connection, record: KeyRecord): Promise<void> {
  const name = keyOf.apiKey(record.hash);
  if ((await asked(redis.set(name, JSON.stringify(record), 'NX'))) === null) await refuseTakenHash(redis, record);
}

async function refuseTakenHash(redis: Connection, { id, hash }: KeyRecord): Promise<void> {
  const owner = await recordAt(redis, hash);
  if (owner && owner.id !== id) throw new KeyTaken('the hash of the key is taken');
}

function idTaken({ id }: KeyRecord): KeyTaken {
  return new KeyTaken(`the key id ${id} is taken`);
}

function changedMeanwhile({ id }: KeyRecord): KeyConflict {
  return new KeyConflict(`key ${id} was changed meanwhile`);
}
