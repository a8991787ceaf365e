import { afterAll, expect, test } from '@jest/globals';
import type { Redis } from 'ioredis';
import { HOUR } from '../../src/common/time.ts';
import { CHANNEL, keyOf } from '../../src/state/redis/key-names.ts';
import { loadScript } from '../../src/state/redis/scripts.ts';
import { redisForSuite } from '../support/redis/suite.ts';
import { until } from '../support/until.ts';
import { SEED } from './faults/support.ts';
import { RedisData } from './redis/database.ts';
import { KnownLimits } from './redis/limits.ts';
import { RECORD_SCRIPTS } from './redis/record-scripts.ts';
import { Random } from './world/random.ts';

const RUNS = 60;
const STEPS = 60;
const EPOCH = '2 epoch';
const { head, keys, hashes, tokens, audit, bans, result: response } = keyOf.records;
const LISTED = ['a', 'b', 'c'];
const BROKEN = ['broken', '[]', 'null', '5', '{}', '{"version":1}'];
const LOGS = [audit, bans];

const scripts = new Map(
  ['append-7.lua', 'follow-5.lua', 'find-3.lua'].map((file) => [file, loadScript(file)]),
);

interface Call {
  readonly file: string;
  readonly names: readonly string[];
  readonly args: readonly (string | number)[];
}

/** A change of the data that no script makes. */
type Hostile = readonly string[];

const suite = redisForSuite();

/** Redis and its twin, which are asked the same. */
class Both {
  readonly data = new RedisData(Date.now, Date.now);
  /** Of all runs. */
  readonly #published: string[];

  constructor(published: string[]) {
    this.#published = published;
  }

  async ask({ file, names, args }: Call) {
    const real = scripts.get(file)!(suite.redis, names, args).catch(() => 'error');
    const twin = () => {
      try {
        return RECORD_SCRIPTS[file]!({
          keys: names,
          args: args.map(String),
          now: Date.now(),
          data: this.data,
          limits: new KnownLimits(),
          publish: (_, text) => void this.#published.push(text),
        });
      } catch {
        return 'error';
      }
    };
    return { real: await real, twin: twin() };
  }

  async change([command, ...args]: Hostile): Promise<void> {
    await suite.redis.call(command!, ...args);
    const [name, field, text] = args as [string, string, string];
    if (command === 'hset') this.data.change(name, 'hash').fields.set(field, text);
    if (command === 'hdel') this.data.removeField(name, field);
    if (command === 'del') this.data.remove(name);
    if (command === 'set') this.data.put(name, { type: 'text', text: field });
    if (command === 'xtrim' && this.data.has(name))
      this.data.change(name, 'stream').entries.splice(0, Number.POSITIVE_INFINITY);
    if (command === 'xadd') this.data.addEntry(name, field, args.slice(2));
  }

  async everything() {
    const { redis } = suite;
    const real = {
      hashes: await Promise.all([head, keys, hashes, tokens].map((name) => redis.hgetall(name))),
      logs: await Promise.all(LOGS.map((log) => redis.xrange(log, '-', '+'))),
      results: await Promise.all(LISTED.map((name) => redis.get(response(name)))),
    };
    const twin = {
      hashes: [head, keys, hashes, tokens].map((name) =>
        Object.fromEntries(this.data.read(name, 'hash')?.fields ?? []),
      ),
      logs: LOGS.map((log) => this.data.read(log, 'stream')?.entries ?? []),
      results: LISTED.map((name) => this.data.read(response(name), 'text')?.text ?? null),
    };
    return { real, twin };
  }

  /** An id that the log has, or had. */
  position(random: Random, log: string): string {
    const last = this.data.read(log, 'stream')?.last ?? '0-0';
    const entries = this.data.read(log, 'stream')?.entries ?? [];
    const existing = entries.length > 0 ? random.oneOf(entries)[0] : last;
    return random.oneOf([existing, existing, last, last.replace(/-.*/, '-0'), '0-0', '3-7']);
  }
}

let subscriber: Redis | null = null;
afterAll(() => void subscriber?.disconnect());

/** Messages to gateways. */
async function listener(): Promise<string[]> {
  const received: string[] = [];
  subscriber = suite.server.admin.duplicate();
  subscriber.on('message', (_, text) => received.push(text));
  await subscriber.subscribe(CHANNEL);
  return received;
}

function recordOf(random: Random, id: string, version: number) {
  const previous = random.isOnce(3) ? { hash: `h${random.oneOf(LISTED)}`, until: 1 } : null;
  return { id, version, hash: `h${random.oneOf(LISTED)}`, previous };
}

function changesOf(random: Random, both: Both): (string | number)[] {
  if (random.isOnce(4)) return [random.oneOf(LISTED), 'token', random.oneOf(['', '{"name":"t"}'])];
  const added = Array.from({ length: random.integer(0, 3) }, () => random.oneOf(LISTED));
  return added.flatMap((id) => {
    const stored = both.data.read(keys, 'hash')?.fields.get(id);
    const existing = Number(/"version":(\d+)/.exec(stored ?? '')?.[1] ?? 1);
    const version = random.oneOf(['', existing, existing, existing, existing + 1]);
    const record = recordOf(random, id, Number(version) + 1);
    return [id, version, record.hash, record.previous?.hash ?? '', JSON.stringify(record)];
  });
}

function appendOf(random: Random, both: Both): Call {
  const at = Date.now() + random.oneOf([0, 0, -HOUR, HOUR]);
  const [toAudit, toBans] = random.oneOf([
    [5, ''],
    [2, 3],
    ['', 3],
    [0, 0],
  ] as const);
  return {
    file: 'append-7.lua',
    names: [head, keys, hashes, tokens, audit, bans, response(random.oneOf(LISTED))],
    args: [
      random.isOnce(12) ? '2 other' : EPOCH,
      CHANNEL,
      random.isOnce(20) ? '{}' : JSON.stringify({ at }),
      random.integer(0, 9),
      random.isOnce(2) ? '' : 'result',
      HOUR,
      toAudit,
      toBans,
      HOUR / 2,
      random.integer(1, 3),
      ...changesOf(random, both),
    ],
  };
}

function questionOf(random: Random, both: Both): Call {
  if (random.isOnce(2)) {
    const by = random.oneOf(['hash', 'id']);
    const names = [...LISTED, 'd'].map((name) => (by === 'hash' ? `h${name}` : name));
    return { file: 'find-3.lua', names: [head, keys, hashes], args: [by, ...names] };
  }
  const [ofAudit, ofBans] = LOGS.map((log) => both.position(random, log));
  return {
    file: 'follow-5.lua',
    names: [head, keys, tokens, audit, bans],
    args: [ofAudit!, ofBans!, random.integer(1, 4), random.integer(1, 3)],
  };
}

function hostileOf(random: Random, both: Both): Hostile {
  const next = Number(both.data.read(head, 'hash')?.fields.get('bans') ?? 0);
  return random.oneOf<Hostile>([
    ['hset', keys, random.oneOf(LISTED), random.oneOf(BROKEN)],
    ['hset', hashes, `h${random.oneOf(LISTED)}`, random.oneOf(LISTED)],
    ['hdel', keys, random.oneOf(LISTED)],
    ['del', random.oneOf(LOGS)],
    ['xtrim', random.oneOf(LOGS), 'MAXLEN', '0'],
    ['hdel', head, random.oneOf(['audit', 'bans'])],
    ['set', response(random.oneOf(LISTED)), 'without end'],
    ...(both.data.has(bans) ? [] : [['xadd', bans, `${next + 1}-0`, 'entry', 'broken']]),
  ]);
}

test('the twin of each script of records answers as the script, and leaves the same', async () => {
  const random = new Random(SEED);
  const replies = new Set<unknown>();
  const published: string[] = [];
  const received = await listener();
  for (let run = 0; run < RUNS; run++) {
    await suite.server.admin.flushall();
    const both = new Both(published);
    await both.change(['hset', head, 'epoch', EPOCH]);
    for (let step = 0; step < STEPS; step++) {
      if (random.isOnce(15)) await both.change(hostileOf(random, both));
      const call = random.isOnce(2) ? appendOf(random, both) : questionOf(random, both);
      const { real, twin } = await both.ask(call);
      expect({ call, reply: twin }).toEqual({ call, reply: real });
      replies.add(typeof real === 'object' ? call.file : real);
    }
    const { real, twin } = await both.everything();
    expect(twin).toEqual(real);
  }
  await suite.server.admin.publish(CHANNEL, 'end');
  await until('the last message', () => received.includes('end'));
  expect([...published, 'end']).toEqual(received);
  const refusals = ['epoch', 'again', 'taken', 'unknown', 'changed', 'broken', 'token'];
  expect([...replies]).toEqual(
    expect.arrayContaining([...refusals, 'find-3.lua', 'follow-5.lua', 1, 10]),
  );
});

test('a replica answers no script of records, because it may lack entries', async () => {
  const { admin } = suite.server;
  await admin.flushall();
  await admin.replicaof('127.0.0.1', 1);
  const names = [head, keys, hashes, tokens, audit, bans, response('a')];
  const calls: Call[] = [
    { file: 'append-7.lua', names, args: [EPOCH, CHANNEL, '{}', 1, '', 1, 5, '', 1, 1] },
    { file: 'find-3.lua', names: names.slice(0, 3), args: ['id', 'a'] },
    { file: 'follow-5.lua', names: names.slice(0, 5), args: ['0-0', '0-0', 1, 1] },
  ];
  for (const { file, names, args } of calls)
    await expect(scripts.get(file)!(admin, names, args)).rejects.toThrow('READONLY');
  await admin.replicaof('no', 'one');
});
