import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { KeyTaken } from '../../src/records/keys/store.ts';
import { applyKeyChange, applyNewKeys } from '../../src/records/redis/key-change.ts';
import { keyOf } from '../../src/state/redis/key-names.ts';
import { KEPT } from '../support/audit.ts';
import { allKeys, keyRecord, note } from '../support/records.ts';
import { openRecords } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';

let server: RedisServer;
let gateway: Awaited<ReturnType<typeof openRecords>>;
beforeAll(async () => {
  server = await startRedis();
  gateway = await openRecords({ ...DEFAULTS, url: server.url });
});
afterAll(async () => {
  gateway.close();
  await server.stop();
});
beforeEach(() => server.admin.flushall());

const records = () => Array.from({ length: 5 }, () => keyRecord({ imported: true }));
const stored = async () => {
  const names = await server.admin.keys('*');
  return Promise.all(names.sort().map(async (name) => [name, await server.admin.dump(name)]));
};

test.each([
  ['nothing', ['ids', 'list', 'records']],
  ['the ids', ['list', 'records']],
  ['the ids and their list', ['records']],
  ['all', []],
])(
  'a change that died after %s was written is finished when it is made again',
  async (_what, missing) => {
    const many = { records: records() };
    await applyNewKeys(server.admin, many);
    const whole = await stored();
    const last = many.records.slice(1);
    if (missing.includes('records'))
      await server.admin.del(last.map(({ hash }) => keyOf.apiKey(hash)));
    if (missing.includes('list')) await server.admin.del(keyOf.apiKeys);
    if (missing.includes('ids')) await server.admin.del(last.map(({ id }) => keyOf.apiKeyId(id)));
    await applyNewKeys(server.admin, many);
    expect(await stored()).toEqual(whole);
  },
);

test('a caller that repeats the change of a dead one imports what is missing under other ids', async () => {
  const [first, second] = [keyRecord({ imported: true }), keyRecord({ imported: true })];
  await applyNewKeys(server.admin, { records: [first, second] });
  await server.admin.del(keyOf.apiKey(second.hash));
  const { keys } = gateway.records(KEPT);
  expect(await keys.findMany([first.hash, second.hash])).toEqual([first, null]);
  const again = keyRecord({ hash: second.hash, imported: true });
  await keys.addMany([again], note());
  expect(await allKeys(keys)).toEqual([first, again]);
  expect(await keys.get(second.id)).toBeNull();
});

test('a hash or id that became that of another key stays with it', async () => {
  const [there, late] = [keyRecord(), keyRecord()];
  await applyNewKeys(server.admin, { records: [there] });
  await expect(
    applyNewKeys(server.admin, { records: [{ ...late, hash: there.hash }] }),
  ).rejects.toThrow(KeyTaken);
  await expect(
    applyNewKeys(server.admin, { records: [{ ...late, id: there.id }] }),
  ).rejects.toThrow(KeyTaken);
  expect(await gateway.records(KEPT).keys.find(there.hash)).toEqual(there);
});

test('a new key that an earlier version has begun to add is finished', async () => {
  const record = keyRecord({ imported: true });
  await applyKeyChange(server.admin, { record, at: null, forgotten: [] });
  const { keys } = gateway.records(KEPT);
  expect(await allKeys(keys)).toEqual([record]);
  expect(await keys.hasImported()).toBe(true);
});
