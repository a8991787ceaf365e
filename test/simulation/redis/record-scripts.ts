import type { Reply, Script, ScriptCall } from './scripts.ts';

/** Members by score, then by name. */
export function byScore(scores: ReadonlyMap<string, number>): [member: string, score: number][] {
  return [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : Number(a > b)));
}

const READ_AT_ONCE = 50;

const timeOf = (entry: string): number => (JSON.parse(entry) as { at: number }).at;

function append(
  { data, args, now: clock }: ScriptCall,
  [entries, dropped]: [string, string],
  keep: number,
  age: number,
) {
  const { items } = data.change(entries, 'list');
  const now = timeOf(args[0]!);
  const since = Math.min(now, clock) - age;
  const over = Math.max(0, Math.min(items.length + 1 - keep, Number(args[1])));
  const times = items.slice(over, over + READ_AT_ONCE).map(timeOf);
  const firstYoung = times.findIndex((at) => at >= since && at <= now);
  const lastOld = times
    .slice(0, firstYoung < 0 ? times.length : firstYoung)
    .findLastIndex((at) => at < since);
  const first = over + lastOld + 1;
  const gone = Number(data.read(dropped, 'text')?.text ?? 0) + first;
  data.put(dropped, { type: 'text', text: String(gone) });
  items.push(args[0]!);
  items.splice(0, first);
  return gone + items.length;
}

const appendMany: Script = (call) => {
  const { keys, args } = call;
  let number: Reply = null;
  for (let i = 0; i < keys.length; i += 2) {
    const age = args[i + 3] === '' ? Number.POSITIVE_INFINITY : Number(args[i + 3]);
    const appended = append(call, [keys[i]!, keys[i + 1]!], Number(args[i + 2]), age);
    number ??= appended;
  }
  return number;
};

const entriesBetween: Script = ({ data, keys, args }) => {
  const items = data.read(keys[0]!, 'list')?.items ?? [];
  const dropped = Number(data.read(keys[1]!, 'text')?.text ?? 0);
  const newest = dropped + items.length;
  const first = Math.max(Number(args[0]), dropped + 1);
  const last = Math.min(Number(args[1]), newest);
  return [
    dropped + 1,
    newest,
    first,
    ...items.slice(first - dropped - 1, Math.max(0, last - dropped)),
  ];
};

const announceOne: Script = ({ data, keys, args, now }) => {
  const { scores } = data.change(keys[0]!, 'sorted');
  for (const [member, at] of scores) if (at > now) scores.set(member, now);
  scores.set(args[0]!, now);
  for (const [member, at] of scores) if (at <= now - Number(args[1])) scores.delete(member);
  data.expire(keys[0]!, Number(args[2]));
  return scores.size;
};

const bannedOne: Script = ({ data, keys, args, now }) => {
  const { scores } = data.change(keys[0]!, 'sorted');
  for (const [member, until] of scores) if (until < now) scores.delete(member);
  for (let i = 1; i < args.length; i += 2) {
    const [until, subject] = [Number(args[i]), args[i + 1]!];
    scores.set(subject, Math.max(until, scores.get(subject) ?? 0));
  }
  const last = byScore(scores).at(-1);
  if (last) data.expire(keys[0]!, Math.max(1, Math.ceil(last[1] - now)));
  else data.remove(keys[0]!);
  return 1;
};

const changeOne: Script = ({ data, keys, args }) => {
  const stored = data.read(keys[0]!, 'text')?.text;
  if (stored === undefined) return 0;
  const versionOf = (text: string) => (JSON.parse(text) as { version?: number }).version ?? 1;
  if (args[0] === '' && versionOf(stored) >= versionOf(args[1]!)) return -1;
  if (args[0] !== '' && versionOf(stored) !== Number(args[0])) return -1;
  data.put(keys[0]!, { type: 'text', text: args[1]! });
  return 1;
};

const moveOne: Script = ({ data, keys, args }) => {
  const [name, from, to] = args as [string, string, string];
  if ((data.read(keys[0]!, 'hash')?.fields.get(name) ?? '') !== from) return 0;
  data.change(keys[0]!, 'hash').fields.set(name, to);
  return 1;
};

/** An item of the twin of the stream of events: its number, and the event. */
export const eventItem = (number: number, event: string): string => `${number}-0 ${event}`;

const enqueueOne: Script = ({ data, keys, args }) => {
  const [events, types, newest, marks, name, ends] = keys as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const [now, since, expiry, most, life] = args.slice(0, 5).map(Number) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const [type, event, ...receivers] = args.slice(5) as [string, string, ...string[]];
  const known = data.read(name, 'hash')?.fields;
  if (known !== undefined) {
    const { fields } = data.change(name, 'hash');
    const ahead = Math.max(0, Number(fields.get('at')) - now);
    const at = Number(fields.get('at')) - ahead;
    const until = Number(fields.get('until')) - ahead;
    fields.set('at', `${at}`).set('until', `${until}`);
    if (at >= since && until >= now) return 0;
  }
  data.remove(ends);
  const { fields } = data.change(name, 'hash');
  fields.set('at', `${now}`).set('until', `${expiry}`);
  data.expire(name, Math.max(1, expiry - now));
  const number = Number(data.read(newest, 'text')?.text ?? 0) + 1;
  data.put(newest, { type: 'text', text: `${number}` });
  for (const [key, item] of [
    [events, eventItem(number, event)],
    [types, type],
  ] as const) {
    const { items } = data.change(key, 'list');
    items.push(item);
    items.splice(0, items.length - most);
    data.expire(key, life);
  }
  const positions = data.change(marks, 'hash').fields;
  for (const one of receivers)
    if (!positions.has(one)) positions.set(one, `{"position":${number - 1}}`);
  return 1;
};

const readClock: Script = ({ now }) => now;

const boundOne: Script = ({ data, keys, args }) => {
  if (data.leftOf(keys[0]!) <= Number(args[0])) return 0;
  data.expire(keys[0]!, Number(args[0]));
  return 1;
};

/** Milliseconds by which the clock of a gateway may be ahead. */
const AHEAD = 60_000;

const usedOne: Script = ({ data, keys, args, now }) => {
  const { scores } = data.change(keys[0]!, 'sorted');
  for (const [id, at] of scores) if (at > now + AHEAD) scores.set(id, now);
  for (let i = 0; i < args.length; i += 2) {
    const [at, id] = [Number(args[i]), args[i + 1]!];
    scores.set(id, Math.max(at, scores.get(id) ?? at));
  }
  return 1;
};

const pageOne: Script = ({ data, keys, args }) => {
  const [last, created, size, isReversed] = [
    args[0]!,
    Number(args[1]),
    Number(args[2]),
    args[3] === '1',
  ];
  const all = byScore(data.read(keys[0]!, 'sorted')?.scores ?? new Map());
  if (isReversed) all.reverse();
  const isAfter = ([id, at]: [string, number]) => {
    if (at !== created) return isReversed ? at < created : at > created;
    return isReversed ? id < last : id > last;
  };
  const page = last === '' ? all : all.filter(isAfter);
  return page.slice(0, size).flatMap(([id, at]) => [id, String(at)]);
};

const commitMany: Script = ({ data, keys, args }) => {
  const [turn, slices, sizes, ...blocks] = keys as [string, string, string, ...string[]];
  if (data.read(turn, 'text')?.text !== args[0]) return 0;
  for (const [i, key] of blocks.entries()) {
    const [name, content] = [args[1 + 2 * i]!, args[2 + 2 * i]!];
    const { fields } = data.change(sizes, 'hash');
    if (content === '') {
      data.remove(key);
      fields.delete(name);
    } else {
      data.put(key, { type: 'text', text: content });
      fields.set(name, String(content.length));
    }
  }
  for (const name of args.slice(1 + 2 * blocks.length))
    data.change(slices, 'hash').fields.delete(name);
  return 1;
};

/** By file name. */
export const RECORD_SCRIPTS: Readonly<Record<string, Script>> = {
  'append-n.lua': appendMany,
  'bound-1.lua': boundOne,
  'page-1.lua': pageOne,
  'used-1.lua': usedOne,
  'entries-2.lua': entriesBetween,
  'announce-1.lua': announceOne,
  'banned-1.lua': bannedOne,
  'change-1.lua': changeOne,
  'commit-n.lua': commitMany,
  'move-1.lua': moveOne,
  'enqueue-6.lua': enqueueOne,
  'clock-1.lua': readClock,
};
