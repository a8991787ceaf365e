import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { AuditNote } from '../../src/records/operators/audit-log.ts';
import type { Records } from '../../src/records/storage.ts';
import { openStateFile } from '../../src/state/embedded/file.ts';
import { DAY, HOUR, MINUTE } from '../support/limits.ts';
import { changed, keyRecord, note } from '../support/records.ts';
import { connectRecords, upToDate } from '../support/redis/records.ts';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { DEFAULTS } from '../support/redis/settings.ts';
import { temporaryFolders } from '../support/temporary.ts';

const BEGIN = Date.now() - 10 * DAY;
const AUDIT = { maxEntries: 12, bans: { maxEntries: 5, maxAge: 2 * HOUR } };
const IDS = ['key_0', 'key_1', 'key_2', 'key_3'];
const HASHES = ['h0', 'h1', 'h2', 'h3', 'h4'];
const NAMES = ['first', 'second', 'third'];
const ACCOUNTS = ['acme', 'ben'];
const PLANS = ['free', 'pro'];

const one = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const from = <const W extends string, T extends object>(what: W, rest: fc.Arbitrary<T>) =>
  rest.map((given) => ({ what, ...given }));
const newKey = fc.record({
  id: one(...IDS),
  hash: one(...HASHES),
  account: one(...ACCOUNTS),
  plan: one(...PLANS),
  createdAt: fc.nat(3),
  expiresAt: fc.option(fc.nat(9)),
  imported: fc.boolean(),
});
const token = fc.record({ name: one('anna', 'ben', 'Carl') });
const step = fc.record({
  gateway: fc.nat(1),
  name: fc.option(one(...NAMES)),
  later: fc.nat(40).map((minutes) => minutes * MINUTE),
  change: fc.oneof(
    from('add', fc.record({ keys: fc.array(newKey, { maxLength: 3 }) })),
    from(
      'edit',
      fc.record({
        id: one(...IDS),
        version: one(0, 0, 0, 1, -1),
        edit: one<Partial<KeyRecord>>({ plan: 'pro' }, { account: 'ben' }, { revokedAt: 1 }),
        hash: fc.option(one(...HASHES)),
        keepsSecret: fc.boolean(),
      }),
    ),
    from('add token', token),
    from('remove token', token),
    from(
      'note',
      fc.record({
        action: one('test', 'bans.lift'),
        log: one<'auditLog' | 'banLog'>('auditLog', 'banLog'),
      }),
    ),
    from('forget', fc.record({ name: one(...NAMES) })),
    from('restart', fc.record({})),
  ),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const newFolder = temporaryFolders();
let server: RedisServer;
let connections: Awaited<ReturnType<typeof connectRecords>>[];
beforeAll(async () => {
  server = await startRedis();
  const connect = () => connectRecords({ ...DEFAULTS, url: server.url });
  connections = [await connect(), await connect()];
});
afterAll(async () => {
  for (const { close } of connections) await close();
  await server.stop();
});

interface Gateway {
  records: Records;
  close(): unknown;
}

/** Two gateways of one state, which restart. */
function gatewaysOf(open: (gateway: number) => Gateway) {
  const gateways = [open(0), open(1)];
  return {
    at: (gateway: number) => gateways[gateway]!.records,
    async restart(gateway: number) {
      await gateways[gateway]!.close();
      gateways[gateway] = open(gateway);
    },
    async close() {
      for (const gateway of gateways) await gateway.close();
    },
  };
}
type Gateways = ReturnType<typeof gatewaysOf>;

function openEmbedded(): Gateways {
  const folder = newFolder();
  return gatewaysOf(() => {
    const db = openStateFile(folder);
    return { records: recordsInFile(db, AUDIT), close: () => db.close() };
  });
}

async function openInRedis(): Promise<Gateways> {
  await server.admin.flushall();
  const folders = [newFolder(), null];
  return gatewaysOf((gateway) => {
    const folder = folders[gateway]!;
    const { records, close } = connections[gateway]!.open({ audit: AUDIT, folder });
    return { records: upToDate(records), close };
  });
}

async function make({ change, gateway }: Step, by: AuditNote, gateways: Gateways) {
  const { keys, tokens, ...logs } = gateways.at(gateway);
  switch (change.what) {
    case 'add':
      return keys.addMany(
        change.keys.map((key) => keyRecord(key)),
        by,
      );
    case 'edit': {
      const before = (await keys.get(change.id)) ?? keyRecord({ id: change.id, hash: 'none' });
      const { hash, version, keepsSecret } = change;
      const previous = keepsSecret ? { hash: before.hash, until: 5 } : null;
      const next = { ...change.edit, ...(hash && hash !== before.hash && { hash, previous }) };
      return keys.replace(changed({ ...before, version: before.version + version }, next), by);
    }
    case 'add token':
      return tokens.add(
        { name: change.name, hash: `${by.entry.after}`, role: 'read', createdAt: 1 },
        by,
      );
    case 'remove token':
      return tokens.remove(change.name, by);
    case 'note':
      return logs[change.log].append(by);
    case 'forget':
      return logs.auditLog.forget(change.name);
    case 'restart':
      return gateways.restart(gateway);
  }
}

/** Keys by plan as the state counts them, which equals a fresh count. */
async function countsAmong(keys: Records['keys'], all: readonly KeyRecord[]) {
  const counts = await keys.countKeys([...PLANS, 'none']);
  for (const [plan, count] of counts)
    expect([plan, count]).toEqual([
      plan,
      all.filter((key) => key.plan === plan && key.revokedAt === null).length,
    ]);
  return counts;
}

/** All questions about records, with their answers. */
async function answersOf({ keys, tokens, auditLog, banLog }: Records, now: number) {
  const pages = async (read: AsyncIterable<readonly KeyRecord[]>) =>
    (await Array.fromAsync(read)).flat();
  const all = await pages(keys.read());
  const queries = [
    { newestFirst: true },
    { account: 'ben' },
    { plan: 'pro' },
    { plan: 'free', account: 'acme', newestFirst: true },
    { after: all[1] },
  ];
  const lists = [
    { limit: 99 },
    { limit: 3, below: 9 },
    { limit: 99, above: 2, target: 'key_1' },
    { limit: 99, action: 'bans.lift', since: now - HOUR },
  ];
  return {
    all,
    reads: await Promise.all(queries.map((query) => pages(keys.read(query)))),
    ofAccounts: await pages(keys.readAccounts(['ben', 'none', 'acme'])),
    // Those that expire at once have no order.
    expiring: new Set(await pages(keys.readExpiring(2, 7))),
    accounts: [await keys.accounts('', 9), await keys.accounts('acme', 1)],
    counts: await countsAmong(keys, all),
    flags: [await keys.isEmpty(), await keys.hasImported()],
    found: await Promise.all(HASHES.map(async (hash) => keys.find(hash))),
    foundMany: await keys.findMany(HASHES),
    got: await Promise.all(IDS.map(async (id) => keys.get(id))),
    tokens: await tokens.list(),
    audit: await Promise.all(lists.map(async (list) => auditLog.list(list))),
    bans: await Promise.all(lists.map(async (list) => banLog.list(list))),
    answered: await Promise.all(NAMES.map(async (name) => auditLog.resultOf(name, now))),
  };
}

test('equal changes have equal outcomes in a folder and in Redis, and lead to equal answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const places = [openEmbedded(), await openInRedis()];
      try {
        let now = BEGIN;
        for (const [i, given] of steps.entries()) {
          now += given.later;
          const { change } = given;
          const action = change.what === 'note' ? change.action : 'test';
          const by = note({ at: now, action, target: `key_${i % 4}`, after: i }, given.name);
          const outcomes = await Promise.allSettled(places.map((place) => make(given, by, place)));
          const [embedded, inRedis] = outcomes.map((outcome) =>
            outcome.status === 'rejected' ? (outcome.reason as Error).name : outcome.value,
          );
          expect(inRedis).toEqual(embedded);
        }
        const expected = await answersOf(places[0]!.at(0), now);
        for (const place of places)
          for (const gateway of [0, 1])
            expect(await answersOf(place.at(gateway), now)).toEqual(expected);
      } finally {
        for (const place of places) await place.close();
      }
    }),
    { numRuns: 200 },
  );
});
