import { isNewer, type RedisData, type StreamEntry } from './database.ts';
import type { Reply } from './protocol.ts';

type Command = (data: RedisData, args: readonly string[]) => Reply;

const textAt = (data: RedisData, key: string) => data.read(key, 'text')?.text ?? null;
const fieldsAt = (data: RedisData, key: string) =>
  data.read(key, 'hash')?.fields ?? new Map<string, string>();
const scoresAt = (data: RedisData, key: string) =>
  data.read(key, 'sorted')?.scores ?? new Map<string, number>();

/** Members by score, then by name. */
const byScore = (scores: ReadonlyMap<string, number>): [member: string, score: number][] =>
  [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : Number(a > b)));

function set(data: RedisData, [key, text, ...options]: readonly string[]): Reply {
  const words = options.map((one) => one.toUpperCase());
  const exists = data.has(key!);
  if ((words.includes('NX') && exists) || (words.includes('XX') && !exists)) return null;
  const at = words.indexOf('PX');
  data.put(key!, { type: 'text', text: text! }, at < 0 ? undefined : Number(options[at + 1]));
  return 'OK';
}

/** Members with scores between two, which a parenthesis excludes. */
function between(data: RedisData, [key, from, to]: readonly string[]): string[] {
  const bound = (text: string) => Number(text.replace('(', '').replace('inf', 'Infinity'));
  const isFrom = (at: number) =>
    at > bound(from!) || (at === bound(from!) && !from!.startsWith('('));
  const isTo = (at: number) => at < bound(to!) || (at === bound(to!) && !to!.startsWith('('));
  const found = byScore(scoresAt(data, key!)).filter(([, at]) => isFrom(at) && isTo(at));
  return found.map(([member]) => member);
}

function removeMembers(data: RedisData, key: string, members: readonly Reply[]): number {
  const { scores } = data.change(key, 'sorted');
  return members.filter((one) => scores.delete(one as string)).length;
}

function trim(data: RedisData, key: string, most: number): void {
  const { entries } = data.change(key, 'stream');
  entries.splice(0, entries.length - most);
}

function addEntry(data: RedisData, [key, ...rest]: readonly string[]): Reply {
  const most = rest[0] === 'MAXLEN' ? Number(rest[1]) : null;
  const [id, ...fields] = most === null ? rest : rest.slice(2);
  data.addEntry(key!, id!, fields);
  if (most !== null) trim(data, key!, most);
  return id!;
}

function increase(data: RedisData, [key, field, by]: readonly string[]): Reply {
  const { fields } = data.change(key!, 'hash');
  const sum = Number(fields.get(field!) ?? 0) + Number(by);
  fields.set(field!, String(sum));
  return sum;
}

function range(
  data: RedisData,
  [key, from, to, scores]: readonly string[],
  isReversed: boolean,
): Reply {
  const all = byScore(scoresAt(data, key!));
  if (isReversed) all.reverse();
  const place = (text: string) => (Number(text) < 0 ? all.length + Number(text) : Number(text));
  const found = all.slice(Math.max(0, place(from!)), place(to!) + 1);
  return scores === undefined
    ? found.map(([member]) => member)
    : found.flatMap(([member, at]) => [member, `${at}`]);
}

function rank(data: RedisData, [key, member]: readonly string[], isReversed: boolean): Reply {
  const all = byScore(scoresAt(data, key!));
  if (isReversed) all.reverse();
  const found = all.findIndex(([one]) => one === member);
  return found < 0 ? null : found;
}

function add(data: RedisData, [key, ...rest]: readonly string[]): Reply {
  const onlyGreater = rest[0] === 'GT';
  const pairs = onlyGreater ? rest.slice(1) : rest;
  const { scores } = data.change(key!, 'sorted');
  let added = 0;
  for (let i = 0; i < pairs.length; i += 2) {
    const [score, member] = [Number(pairs[i]), pairs[i + 1]!];
    const existing = scores.get(member);
    if (existing === undefined) added++;
    if (existing === undefined || !onlyGreater || score > existing) scores.set(member, score);
  }
  return added;
}

/** Entries between two ids, which a parenthesis excludes. */
function entriesBetween(
  data: RedisData,
  [key, from, to, , count]: readonly string[],
): readonly StreamEntry[] {
  const entries = data.read(key!, 'stream')?.entries ?? [];
  // A number alone is the first id that begins with it.
  const first = /^\d+$/.test(from!) ? `${from}-0` : from!;
  const isFrom = (id: string) =>
    first === '-' || (first.startsWith('(') ? isNewer(id, first.slice(1)) : !isNewer(first, id));
  const isTo = (id: string) => to === '+' || !isNewer(id, to!);
  const found = entries.filter(([id]) => isFrom(id) && isTo(id));
  return count === undefined ? found : found.slice(0, Number(count));
}

/** Places of fields, which do not depend on other fields. */
const placeOf = (field: string): number =>
  [...field].reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 1_000_003, 7);

/** Less than `COUNT`, which is a hint, so that changes come in between. */
const SCAN_PART = 4;

function scanHash(data: RedisData, [key, cursor]: readonly string[]): Reply {
  const all = [...fieldsAt(data, key!)]
    .map(([field, text]) => ({ place: placeOf(field), field, text }))
    .filter(({ place }) => place >= Number(cursor))
    .sort((one, other) => one.place - other.place);
  const next = all[SCAN_PART]?.place ?? Number.POSITIVE_INFINITY;
  const last = next === Number(cursor) ? next + 1 : next;
  const page = all.filter(({ place }) => place < last);
  const isLast = page.length === all.length;
  return [isLast ? '0' : String(last), page.flatMap(({ field, text }) => [field, text])];
}

/** Reads. A replica executes them too. */
export const READS: Readonly<Record<string, Command>> = {
  get: (data, [key]) => textAt(data, key!),
  mget: (data, keys) => keys.map((key) => textAt(data, key)),
  pttl: (data, [key]) => data.leftOf(key!),
  exists: (data, keys) => keys.filter((key) => data.has(key)).length,
  hget: (data, [key, field]) => fieldsAt(data, key!).get(field!) ?? null,
  hmget: (data, [key, ...names]) => names.map((name) => fieldsAt(data, key!).get(name) ?? null),
  hgetall: (data, [key]) => [...fieldsAt(data, key!)].flat(),
  hvals: (data, [key]) => [...fieldsAt(data, key!).values()],
  hscan: scanHash,
  xrange: entriesBetween,
  xlen: (data, [key]) => data.read(key!, 'stream')?.entries.length ?? 0,
  xrevrange: (data, [key, , , , count]) =>
    (data.read(key!, 'stream')?.entries ?? []).slice(-Number(count)).reverse(),
  hexists: (data, [key, field]) => Number(fieldsAt(data, key!).has(field!)),
  zcard: (data, [key]) => scoresAt(data, key!).size,
  zrange: (data, args) => range(data, args, false),
  zrangebyscore: between,
  zrevrange: (data, args) => range(data, args, true),
  zrank: (data, args) => rank(data, args, false),
  zrevrank: (data, args) => rank(data, args, true),
  zmscore: (data, [key, ...members]) =>
    members.map((member) => scoresAt(data, key!).get(member)?.toString() ?? null),
  zscan: (data, [key]) => [
    '0',
    byScore(scoresAt(data, key!)).flatMap(([member, score]) => [member, `${score}`]),
  ],
  zrangebylex: (data, [key, from, , , , limit]) =>
    [...scoresAt(data, key!).keys()]
      .sort()
      .filter((member) => member > from!.slice(1))
      .slice(0, Number(limit)),
  lrange: (data, [key, from, to]) => {
    const items = data.read(key!, 'list')?.items ?? [];
    return items.slice(Number(from), to === '-1' ? undefined : Number(to) + 1);
  },
  dbsize: (data) => data.size,
  scan: (data, [, , pattern]) => {
    const start = pattern!.slice(0, pattern!.indexOf('*'));
    return ['0', data.names().filter((name) => name.startsWith(start))];
  },
};

export const WRITES: Readonly<Record<string, Command>> = {
  set,
  /** Only of keys without a lifetime: a replica refuses it. */
  persist: () => 0,
  pexpire: (data, [key, lifetime]) => Number(data.expire(key!, Number(lifetime))),
  del: (data, keys) => keys.filter((key) => data.remove(key)).length,
  incr(data, [key]) {
    const next = Number(textAt(data, key!) ?? 0) + 1;
    data.put(key!, { type: 'text', text: `${next}` });
    return next;
  },
  hset: (data, [key, ...pairs]) => {
    const { fields } = data.change(key!, 'hash');
    const before = fields.size;
    for (let i = 0; i < pairs.length; i += 2) fields.set(pairs[i]!, pairs[i + 1]!);
    return fields.size - before;
  },
  hdel(data, [key, ...names]) {
    const { fields } = data.change(key!, 'hash');
    return names.filter((name) => fields.delete(name)).length;
  },
  hsetnx: (data, [key, field, text]) => {
    const { fields } = data.change(key!, 'hash');
    if (fields.has(field!)) return 0;
    fields.set(field!, text!);
    return 1;
  },
  hincrby: increase,
  xadd: addEntry,
  xtrim(data, [key, , most]) {
    trim(data, key!, Number(most));
    return 0;
  },
  rpush: (data, [key, item]) => data.change(key!, 'list').items.push(item!),
  ltrim(data, [key, from]) {
    const { items } = data.change(key!, 'list');
    items.splice(0, items.length + Number(from));
    return 'OK';
  },
  zadd: add,
  zrem: (data, [key, ...members]) => removeMembers(data, key!, members),
  zremrangebyscore: (data, args) => removeMembers(data, args[0]!, between(data, args)),
  zremrangebyrank: (data, args) =>
    removeMembers(data, args[0]!, range(data, args, false) as readonly Reply[]),
};
