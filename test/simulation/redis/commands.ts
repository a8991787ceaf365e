import type { RedisData } from './database.ts';
import { byScore } from './record-scripts.ts';
import type { Reply } from './scripts.ts';

type Command = (data: RedisData, args: readonly string[]) => Reply;

const textAt = (data: RedisData, key: string) => data.read(key, 'text')?.text ?? null;
const fieldsAt = (data: RedisData, key: string) =>
  data.read(key, 'hash')?.fields ?? new Map<string, string>();
const scoresAt = (data: RedisData, key: string) =>
  data.read(key, 'sorted')?.scores ?? new Map<string, number>();

function set(data: RedisData, [key, text, ...options]: readonly string[]): Reply {
  const words = options.map((one) => one.toUpperCase());
  const exists = data.has(key!);
  if ((words.includes('NX') && exists) || (words.includes('XX') && !exists)) return null;
  const at = words.indexOf('PX');
  data.put(key!, { type: 'text', text: text! }, at < 0 ? undefined : Number(options[at + 1]));
  return 'OK';
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
    const known = scores.get(member);
    if (known === undefined) added++;
    if (known === undefined || !onlyGreater || score > known) scores.set(member, score);
  }
  return added;
}

/** Reads. A replica executes them too. */
export const READS: Readonly<Record<string, Command>> = {
  get: (data, [key]) => textAt(data, key!),
  mget: (data, keys) => keys.map((key) => textAt(data, key)),
  exists: (data, keys) => keys.filter((key) => data.has(key)).length,
  hget: (data, [key, field]) => fieldsAt(data, key!).get(field!) ?? null,
  hmget: (data, [key, ...names]) => names.map((name) => fieldsAt(data, key!).get(name) ?? null),
  hgetall: (data, [key]) => [...fieldsAt(data, key!)].flat(),
  hexists: (data, [key, field]) => Number(fieldsAt(data, key!).has(field!)),
  zcard: (data, [key]) => scoresAt(data, key!).size,
  zrange: (data, args) => range(data, args, false),
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
  lpos: (data, [key, item]) => {
    const found = (data.read(key!, 'list')?.items ?? []).lastIndexOf(item!);
    return found < 0 ? null : found;
  },
  lrange: (data, [key, from, to]) => {
    const items = data.read(key!, 'list')?.items ?? [];
    return items.slice(Number(from), to === '-1' ? undefined : Number(to) + 1);
  },
  /** Entries from an id to the end, of the twin of a stream: a list of texts. */
  xrange: (data, [key, from, , , count]) =>
    (data.read(key!, 'list')?.items ?? [])
      .map((item) => [item.slice(0, item.indexOf(' ')), item.slice(item.indexOf(' ') + 1)] as const)
      .filter(([id]) => Number.parseInt(id, 10) >= Number(from))
      .slice(0, Number(count))
      .map(([id, event]) => [id, ['event', event]]),
  dbsize: (data) => data.size,
  scan: (data, [, , pattern]) => {
    const start = pattern!.slice(0, pattern!.indexOf('*'));
    return ['0', data.names().filter((name) => name.startsWith(start))];
  },
};

export const WRITES: Readonly<Record<string, Command>> = {
  set,
  del: (data, keys) => keys.filter((key) => data.remove(key)).length,
  hset: (data, [key, ...pairs]) => {
    const { fields } = data.change(key!, 'hash');
    const before = fields.size;
    for (let i = 0; i < pairs.length; i += 2) fields.set(pairs[i]!, pairs[i + 1]!);
    return fields.size - before;
  },
  hdel: (data, [key, ...names]) =>
    names.filter((name) => data.change(key!, 'hash').fields.delete(name)).length,
  hsetnx: (data, [key, field, text]) => {
    const { fields } = data.change(key!, 'hash');
    if (fields.has(field!)) return 0;
    fields.set(field!, text!);
    return 1;
  },
  zadd: add,
  zrem: (data, [key, ...members]) =>
    members.filter((one) => data.change(key!, 'sorted').scores.delete(one)).length,
};
