import type { RedisData } from './database.ts';
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

function forgetNames(
  data: RedisData,
  [names, queuedAt]: [string, string],
  old: readonly string[],
): void {
  for (const name of old) {
    data.change(names, 'sorted').scores.delete(name);
    data.change(queuedAt, 'hash').fields.delete(name);
  }
}

/** Milliseconds: as in rules/outbox.lua. */
const [NOTE_INTERVAL, JITTER] = [10_000, 1_000];

/** The time, and what to add to a time of the caller, whose clock only shows its difference. */
function timesOf({ now }: ScriptCall, ofCaller: string): { now: number; offset: number } {
  return { now, offset: now - Number(ofCaller) };
}

function followClock(data: RedisData, due: string, lastResult: string, now: number): void {
  const { fields } = data.change(lastResult, 'hash');
  const text = fields.get('clock');
  const noted = text === undefined ? null : Number(text);
  if (noted !== null && now < noted - JITTER) {
    const back = noted - now;
    const { scores } = data.change(due, 'sorted');
    for (const [number, at] of scores) scores.set(number, at - back);
    if (fields.has('paused')) fields.set('paused', String(Number(fields.get('paused')) - back));
  } else if (noted !== null && now < noted + NOTE_INTERVAL) return;
  fields.set('clock', String(now));
}

/**
 * Whether an event was queued before. After the clock was set back, its name is remembered as long
 * as it was to be.
 */
function isDuplicate(
  data: RedisData,
  [names, queuedAt]: [string, string],
  name: string,
  since: number,
  now: number,
) {
  let at = Number(data.read(queuedAt, 'hash')?.fields.get(name) ?? -1);
  let expiry = data.read(names, 'sorted')?.scores.get(name) ?? -1;
  if (at > now) {
    expiry += now - at;
    at = now;
    data.change(names, 'sorted').scores.set(name, expiry);
    data.change(queuedAt, 'hash').fields.set(name, String(at));
  }
  return at >= since && expiry >= now;
}

const enqueueMany: Script = (call) => {
  const { data, keys, args } = call;
  const [ofCaller, , name, since, until, ends, mostNames, most, life, job] = args as string[];
  const [names, queuedAt, counter] = keys as [string, string, string];
  const { now, offset } = timesOf(call, ofCaller!);
  const first = since === '0' ? 0 : Number(since) + offset;
  if (isDuplicate(data, [names, queuedAt], name!, first, now)) return null;
  const forget = (old: readonly [name: string, end: number][]) => {
    const gone = old.slice(0, 100).map(([one]) => one);
    forgetNames(data, [names, queuedAt], gone);
  };
  forget(byScore(data.change(names, 'sorted').scores).filter(([, end]) => end < now));
  const remembered = byScore(data.change(names, 'sorted').scores);
  forget(remembered.slice(0, Math.max(0, remembered.length - Number(mostNames) + 1)));
  if (ends !== '') forgetNames(data, [names, queuedAt], [ends!]);
  data.change(names, 'sorted').scores.set(name!, Number(until) + offset);
  data.change(queuedAt, 'hash').fields.set(name!, String(now));
  let dropped = 0;
  for (let i = 3; i < keys.length; i += 4) {
    const [due, came, jobs, lastResult] = keys.slice(i, i + 4) as [string, string, string, string];
    followClock(data, due, lastResult, now);
    const next = Number(data.read(counter, 'text')?.text ?? 0) + 1;
    data.put(counter, { type: 'text', text: String(next) });
    const number = String(next).padStart(16, '0');
    data.change(due, 'sorted').scores.set(number, now);
    data.change(came, 'sorted').scores.set(number, now);
    data.change(jobs, 'hash').fields.set(number, job!);
    const oldest = byScore(data.change(came, 'sorted').scores);
    for (const [one] of oldest.slice(0, Math.max(0, oldest.length - Number(most)))) {
      removeJob(data, [due, came, jobs], one);
      const { fields } = data.change(lastResult, 'hash');
      fields.set('lost', String(Number(fields.get('lost') ?? 0) + 1));
      dropped++;
    }
  }
  for (const key of keys.slice(3)) if (data.has(key)) data.expire(key, Number(life));
  return dropped;
};

function removeJob(
  data: RedisData,
  [due, came, jobs]: [string, string, string],
  number: string,
): void {
  data.change(due, 'sorted').scores.delete(number);
  data.change(came, 'sorted').scores.delete(number);
  const { fields } = data.change(jobs, 'hash');
  fields.delete(number);
  fields.delete(`${number}:n`);
}

const takeOne: Script = (call) => {
  const { data, keys, args } = call;
  const [due, jobs, lastResult] = keys as [string, string, string];
  const { now } = timesOf(call, args[0]!);
  if (data.has(lastResult)) followClock(data, due, lastResult, now);
  const state = data.read(lastResult, 'hash')?.fields;
  if (state?.get('gone') === '1' || Number(state?.get('paused') ?? 0) > now) return null;
  const [first] = byScore(data.read(due, 'sorted')?.scores ?? new Map());
  if (!first || first[1] > now) return null;
  const [number] = first;
  data.change(due, 'sorted').scores.set(number, now + Number(args[2]));
  const { fields } = data.change(jobs, 'hash');
  const attempts = Number(fields.get(`${number}:n`) ?? 0) + 1;
  fields.set(`${number}:n`, String(attempts));
  return [number, fields.get(number) ?? null, attempts, Number(state?.get('failures') ?? 0)];
};

const settleOne: Script = (call) => {
  const { data, keys, args } = call;
  const [due, came, jobs, lastResult] = keys as [string, string, string, string];
  const [what, number, ofCaller, , life, ...more] = args as [
    string,
    string,
    string,
    string,
    string,
    ...string[],
  ];
  const { now, offset } = timesOf(call, ofCaller);
  followClock(data, due, lastResult, now);
  const { fields } = data.change(lastResult, 'hash');
  if (what === 'failed') {
    const { scores } = data.change(due, 'sorted');
    if (scores.has(number)) scores.set(number, Number(more[0]) + offset);
    fields.set('failures', String(Number(fields.get('failures') ?? 0) + 1));
    if (!fields.has('failing')) fields.set('failing', String(now));
    fields
      .set('paused', String(Number(more[1]) + offset))
      .set('error', more[2]!)
      .set('gone', more[3]!);
  } else if (what === 'lost') {
    removeJob(data, [due, came, jobs], number);
    fields.set('lost', String(Number(fields.get('lost') ?? 0) + 1));
  } else {
    if (number !== '') removeJob(data, [due, came, jobs], number);
    const later =
      fields.has('failing') || fields.has('late') ? byScore(data.change(due, 'sorted').scores) : [];
    const moved = later.filter(([, at]) => at > Number(more[0]) + offset).slice(0, Number(more[1]));
    for (const [one] of moved) data.change(due, 'sorted').scores.set(one, now);
    for (const name of ['failures', 'failing', 'error', 'paused', 'gone', 'late'])
      fields.delete(name);
    fields.set('delivered', String(now));
    if (moved.length === Number(more[1])) fields.set('late', '1');
  }
  data.expire(lastResult, Number(life));
  return 'done';
};

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
  'enqueue-n.lua': enqueueMany,
  'take-3.lua': takeOne,
  'settle-4.lua': settleOne,
};
