import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { recordsInFile } from '../../src/records/embedded/records.ts';
import type { KeyRecord } from '../../src/records/keys/key.ts';
import type { KeyQuery } from '../../src/records/keys/store.ts';
import type { AuditEntry, AuditNote, AuditQuery } from '../../src/records/operators/audit-log.ts';
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
        actor: one('anna', 'ben'),
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

const KEY_QUERIES = [
  {},
  { newestFirst: true },
  { account: 'ben' },
  { plan: 'pro' },
  { plan: 'free', account: 'acme', newestFirst: true },
];
const entryQueries = (now: number) => [
  { limit: 99 },
  { limit: 3, below: 9 },
  { limit: 2, above: 3, below: 11 },
  { limit: 99, actor: 'ben', action: undefined },
  { limit: 99, above: 2, target: 'key_1' },
  { limit: 99, target: 'key' },
  { limit: 99, action: 'bans.lift', since: now - HOUR },
];
const NAMES_AFTER: [after: string, most: number][] = [
  ['', 9],
  ['', 1],
  ['acme', 1],
  ['ben', 9],
];
/** Those that expire at once have no order. */
const sorted = (keys: readonly KeyRecord[]) => keys.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** All questions about records, with their answers. */
async function answersOf({ keys, tokens, auditLog, banLog }: Records, now: number) {
  const pages = async (read: AsyncIterable<readonly KeyRecord[]>) =>
    (await Array.fromAsync(read)).flat();
  const all = await pages(keys.read());
  const queries = [...KEY_QUERIES, { after: all[1] }, { after: all[2], newestFirst: true }];
  const lists = entryQueries(now);
  return {
    reads: await Promise.all(queries.map((query) => pages(keys.read(query)))),
    ofAccounts: sorted(await pages(keys.readAccounts(['ben', 'none', 'acme']))),
    expiring: sorted(await pages(keys.readExpiring(2, 7))),
    accounts: await Promise.all(NAMES_AFTER.map(async (given) => keys.accounts(...given))),
    counts: await keys.countKeys([...PLANS, 'none']),
    flags: [await keys.isEmpty(), await keys.hasImported()],
    found: await Promise.all(HASHES.map(async (hash) => keys.find(hash))),
    foundMany: await keys.findMany(HASHES),
    got: await Promise.all(IDS.map(async (id) => keys.get(id))),
    audit: await Promise.all(lists.map(async (list) => auditLog.list(list))),
    bans: await Promise.all(lists.map(async (list) => banLog.list(list))),
    tokens: await tokens.list(),
    answered: await Promise.all(NAMES.map(async (name) => auditLog.resultOf(name, now))),
  };
}
type Answers = Awaited<ReturnType<typeof answersOf>>;

/** The answers to the other questions that follow from all keys and entries. */
function expectedOf({ reads, audit, bans }: Answers, now: number): Partial<Answers> {
  const all = reads[0]!;
  const keysFor = (query: KeyQuery) => {
    const after = all.findIndex(({ id }) => id === query.after?.id);
    const rest = query.newestFirst
      ? all.slice(0, after < 0 ? undefined : after).reverse()
      : all.slice(after + 1);
    const { account, plan } = query;
    return rest.filter(
      (key) => (account ?? key.account) === key.account && (plan ?? key.plan) === key.plan,
    );
  };
  const found = (hash: string) =>
    all.find((key) => key.hash === hash) ??
    all.find(({ previous }) => previous?.hash === hash) ??
    null;
  const used = all.filter(({ revokedAt }) => revokedAt === null);
  const accounts = [...new Set(all.map(({ account }) => account))].sort();
  const entriesFor = (entries: readonly AuditEntry[]) =>
    entryQueries(now).map(({ limit, below = 1e9, above, since = 0, ...fields }: AuditQuery) => {
      const isAsked = (one: AuditEntry) =>
        Object.entries(fields).every(
          ([name, value]) => value === undefined || one[name as 'actor'] === value,
        );
      const inside = entries.filter(
        (one) => one.number < below && one.number > (above ?? 0) && one.at >= since && isAsked(one),
      );
      return (above === undefined ? inside : inside.reverse()).slice(0, limit);
    });
  return {
    reads: [...KEY_QUERIES, { after: all[1] }, { after: all[2], newestFirst: true }].map(keysFor),
    ofAccounts: sorted(all.filter(({ account }) => account === 'ben' || account === 'acme')),
    expiring: sorted(
      used.filter(({ expiresAt }) => expiresAt !== null && expiresAt > 2 && expiresAt <= 7),
    ),
    accounts: NAMES_AFTER.map(([after, most]) =>
      accounts.filter((name) => name > after).slice(0, most),
    ),
    counts: new Map(
      [...PLANS, 'none'].map((plan) => [plan, used.filter((key) => key.plan === plan).length]),
    ),
    flags: [all.length === 0, all.some(({ imported }) => imported)],
    found: HASHES.map(found),
    foundMany: HASHES.map(found),
    got: IDS.map((id) => all.find((key) => key.id === id) ?? null),
    audit: entriesFor(audit[0]!),
    bans: entriesFor(bans[0]!),
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
          const { action, actor } =
            change.what === 'note' ? change : { action: 'test', actor: 'anna' };
          const entry = { at: now, actor, action, target: `key_${i % 4}`, after: i };
          const by = note(entry, given.name);
          const outcomes = await Promise.allSettled(places.map((place) => make(given, by, place)));
          const [embedded, inRedis] = outcomes.map((outcome) =>
            outcome.status === 'rejected' ? (outcome.reason as Error).name : outcome.value,
          );
          expect(inRedis).toEqual(embedded);
        }
        const answers = await answersOf(places[0]!.at(0), now);
        expect(answers).toMatchObject(expectedOf(answers, now));
        const [all] = answers.reads;
        expect(all).toEqual(all!.toSorted((a, b) => a.createdAt - b.createdAt));
        for (const place of places)
          for (const gateway of [0, 1])
            expect(await answersOf(place.at(gateway), now)).toEqual(answers);
      } finally {
        for (const place of places) await place.close();
      }
    }),
    { numRuns: 100 },
  );
});
