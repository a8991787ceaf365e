import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SECOND } from '../../../src/common/time.ts';
import type { KeyRecord } from '../../../src/records/keys/key.ts';
import { modelIn } from '../../../src/records/model/model.ts';
import { COPY_FILE } from '../../../src/records/redis/copy.ts';
import { numberOf, progressIn } from '../../../src/records/redis/progress.ts';
import { keyOf } from '../../../src/state/redis/key-names.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds after an outage, until connections and all records are there again. */
const AFTER_OUTAGE = 4 * SECOND;

/** Milliseconds in which a start waits for messages. Without them it does not use Redis. */
const START = 6 * SECOND;

/** Milliseconds in which a start waits for the data of its copy, if Redis has lost them. */
const LOST = 30 * SECOND;

const LOGS = ['audit', 'bans'] as const;

/**
 * The copy of each gateway equals the records in Redis a second after the last change. That of a
 * gateway that has made a change has it at once.
 */
export const copies: MakeInvariant = ({ simulation, disturbances }) => {
  const { world, redis, gateways, isEmbedded } = simulation;

  function inRedis() {
    const textsOf = (name: string) => redis.data.read(name, 'hash')?.fields ?? new Map();
    const entriesOf = (name: string) => redis.data.read(name, 'stream')?.entries ?? [];
    const records = [...textsOf(keyOf.records.keys).values()];
    return {
      epoch: textsOf(keyOf.records.head).get('epoch'),
      keys: sorted(records),
      counts: countsOf(records),
      tokens: sorted(
        [...textsOf(keyOf.records.tokens).values()].map((text) => normal(JSON.parse(text))),
      ),
      ...logsOf((log) =>
        entriesOf(keyOf.records[log]).map(([id, [, text]]) => ({
          number: numberOf(id),
          ...JSON.parse(text!),
        })),
      ),
    };
  }

  function open<T>({ machine }: Gateway, read: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(join(machine.folder, COPY_FILE), { readOnly: true });
    try {
      return read(db);
    } finally {
      db.close();
    }
  }

  const inCopy = (gateway: Gateway) =>
    open(gateway, (db) => {
      const model = modelIn(db);
      const { epoch, isWhole, isPassing } = progressIn(db)();
      const records = db.prepare('SELECT record FROM keys').all();
      const plans = db.prepare('SELECT plan FROM plan_keys WHERE keys > 0 ORDER BY plan').all();
      return {
        epoch: isWhole && !isPassing ? epoch : 'being read',
        keys: sorted(records.map(({ record }) => record as string)),
        counts: [...model.keys.countKeys(plans.map(({ plan }) => plan as string))],
        tokens: sorted(model.tokens.list().map(normal)),
        ...logsOf((log) => [...model[log].all()]),
      };
    });

  function hasEntry(gateway: Gateway, name: string): boolean {
    const entry = 'SELECT 1 FROM audit WHERE request = ?';
    return open(gateway, (db) => db.prepare(entry).get(name) !== undefined);
  }

  /** What a copy has in place of what Redis has. */
  function faultOf(gateway: Gateway, expected: ReturnType<typeof inRedis>): string | null {
    const found = inCopy(gateway);
    for (const part of ['epoch', 'keys', 'counts', 'tokens', ...LOGS] as const) {
      const [requested, had] = [expected[part], found[part]].map((one) => JSON.stringify(one));
      if (requested !== had)
        return `${part} ${requested} in the copy of ${gateway.name}, not ${had}`;
    }
    return null;
  }

  function faultOfAny(isJudged: (gateway: Gateway) => boolean): string | null {
    const expected = inRedis();
    // No gateway has yet taken what is left for the data of all.
    if (expected.epoch === undefined) return null;
    for (const gateway of gateways.filter((one) => one.isRunning && isJudged(one))) {
      const fault = faultOf(gateway, expected);
      if (fault !== null) return fault;
    }
    return null;
  }

  function isUndisturbed({ name, process }: Gateway): boolean {
    const since = world.now - AFTER_OUTAGE;
    const isNew = world.now < process!.bornAt + LOST + AFTER_OUTAGE;
    if (isNew && disturbances.between(0, world.now, ['loss'], name).length > 0) return false;
    const cuts = disturbances.between(since, world.now, ['messages'], name);
    if (cuts.some(({ from }) => from < process!.bornAt + START)) return false;
    const kinds = ['outage', 'pause', 'loss'] as const;
    return disturbances.between(since, world.now, kinds, name).length === 0;
  }

  const lastIds = () =>
    LOGS.map((log) => redis.data.read(keyOf.records[log], 'stream')?.last).join(' ');
  let before = '';

  return {
    name: 'each copy equals the records in Redis',
    observe(fact) {
      if (fact.type === 'edit' || fact.type === 'change') before = lastIds();
      if (fact.type !== 'edit' || fact.edit.result !== 'made') return null;
      const { gateway: name, name: entry } = fact.edit;
      const maker = gateways.find((one) => one.name === name && one.isRunning);
      if (!maker || !isUndisturbed(maker) || hasEntry(maker, entry)) return null;
      return `the entry of ${entry} in the copy of ${name}, which has made it`;
    },
    quiet: () => (isEmbedded || lastIds() !== before ? null : faultOfAny(isUndisturbed)),
    async check() {
      return isEmbedded ? null : faultOfAny(() => true);
    },
  };
};

const sorted = (texts: readonly string[]): string[] => [...texts].sort();

/** Keys that are not revoked, by plan. */
function countsOf(records: readonly string[]): [plan: string, keys: number][] {
  const used = records.map((text) => JSON.parse(text) as KeyRecord);
  const plans = used.filter(({ revokedAt }) => revokedAt === null).map(({ plan }) => plan);
  return sorted([...new Set(plans)]).map((plan) => [
    plan,
    plans.filter((one) => one === plan).length,
  ]);
}

function logsOf<T>(read: (log: (typeof LOGS)[number]) => readonly T[]) {
  return { audit: read('audit').map(normal), bans: read('bans').map(normal) };
}

/** JSON with the fields of all objects in one order. */
function normal(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}
