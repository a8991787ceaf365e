import type { RedisData } from './database.ts';
import type { Reply, Script, ScriptCall } from './scripts.ts';

/** Members by score, then by name. */
export function byScore(scores: ReadonlyMap<string, number>): [member: string, score: number][] {
  return [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : Number(a > b)));
}

const READ_AT_ONCE = 50;

function append({ data, args }: ScriptCall, [entries, dropped]: [string, string], keep: number, since: number) {
  const { items } = data.change(entries, 'list');
  let over = Math.max(0, Math.min(items.length + 1 - keep, Number(args[1])));
  for (const entry of items.slice(over, over + READ_AT_ONCE)) {
    if ((JSON.parse(entry) as { at: number }).at >= since) break;
    over++;
  }
  const gone = Number(data.read(dropped, 'text')?.text ?? 0) + over;
  data.put(dropped, { type: 'text', text: String(gone) });
  items.push(args[0]!);
  items.splice(0, over);
  return gone + items.length;
}

const appendMany: Script = (call) => {
  const { keys, args } = call;
  let number: Reply = null;
  for (let i = 0; i < keys.length; i += 2) {
    const since = args[i + 3] === '' ? Number.NEGATIVE_INFINITY : Number(args[i + 3]);
    const appended = append(call, [keys[i]!, keys[i + 1]!], Number(args[i + 2]), since);
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
  return [dropped + 1, newest, first, ...items.slice(first - dropped - 1, Math.max(0, last - dropped))];
};

const announceOne: Script = ({ data, keys, args, now }) => {
  const { scores } = data.change(keys[0]!, 'sorted');
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

function forgetNames(data: RedisData, [names, queuedAt]: [string, string], old: readonly string[]): void {
  for (const name of old) {
    data.change(names, 'sorted').scores.delete(name);
    data.change(queuedAt, 'hash').fields.delete(name);
  }
}

const enqueueMany: Script = ({ data, keys, args }) => {
  const [now, name, since, until, ends, mostNames, most, life, job] = args as string[];
  const [names, queuedAt, counter] = keys as [string, string, string];
  const at = Number(data.read(queuedAt, 'hash')?.fields.get(name!) ?? -1);
  const expiry = data.read(names, 'sorted')?.scores.get(name!) ?? -1;
  if (at >= Number(since) && expiry >= Number(now)) return null;
  const known = byScore(data.change(names, 'sorted').scores);
  const old = known.filter(([, end]) => end < Number(now)).slice(0, 100);
  forgetNames(
    data,
    [names, queuedAt],
    old.map(([one]) => one),
  );
  const over = Math.max(0, data.change(names, 'sorted').scores.size - Number(mostNames) + 1);
  const first = byScore(data.change(names, 'sorted').scores).slice(0, Math.min(over, 100));
  forgetNames(
    data,
    [names, queuedAt],
    first.map(([one]) => one),
  );
  if (ends !== '') forgetNames(data, [names, queuedAt], [ends!]);
  data.change(names, 'sorted').scores.set(name!, Number(until));
  data.change(queuedAt, 'hash').fields.set(name!, now!);
  let dropped = 0;
  for (let i = 3; i < keys.length; i += 4) {
    const [due, came, jobs, lastResult] = keys.slice(i, i + 4) as [string, string, string, string];
    const next = Number(data.read(counter, 'text')?.text ?? 0) + 1;
    data.put(counter, { type: 'text', text: String(next) });
    const number = String(next).padStart(16, '0');
    data.change(due, 'sorted').scores.set(number, Number(now));
    data.change(came, 'sorted').scores.set(number, Number(now));
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

function removeJob(data: RedisData, [due, came, jobs]: [string, string, string], number: string): void {
  data.change(due, 'sorted').scores.delete(number);
  data.change(came, 'sorted').scores.delete(number);
  const { fields } = data.change(jobs, 'hash');
  fields.delete(number);
  fields.delete(`${number}:n`);
}

const takeOne: Script = ({ data, keys, args }) => {
  const [due, jobs, lastResult] = keys as [string, string, string];
  const [now, lease] = [Number(args[0]), Number(args[1])];
  const state = data.read(lastResult, 'hash')?.fields;
  if (state?.get('gone') === '1' || Number(state?.get('paused') ?? 0) > now) return null;
  const [first] = byScore(data.read(due, 'sorted')?.scores ?? new Map());
  if (!first || first[1] > now) return null;
  const [number] = first;
  data.change(due, 'sorted').scores.set(number, lease);
  const { fields } = data.change(jobs, 'hash');
  const attempts = Number(fields.get(`${number}:n`) ?? 0) + 1;
  fields.set(`${number}:n`, String(attempts));
  return [number, fields.get(number) ?? null, attempts, Number(state?.get('failures') ?? 0)];
};

const settleOne: Script = ({ data, keys, args }) => {
  const [due, came, jobs, lastResult] = keys as [string, string, string, string];
  const [what, number, now, life, ...more] = args as [string, string, string, string, ...string[]];
  const { fields } = data.change(lastResult, 'hash');
  if (what === 'failed') {
    const { scores } = data.change(due, 'sorted');
    if (scores.has(number)) scores.set(number, Number(more[0]));
    fields.set('failures', String(Number(fields.get('failures') ?? 0) + 1));
    if (!fields.has('failing')) fields.set('failing', now);
    fields.set('paused', more[1]!).set('error', more[2]!).set('gone', more[3]!);
  } else if (what === 'lost') {
    removeJob(data, [due, came, jobs], number);
    fields.set('lost', String(Number(fields.get('lost') ?? 0) + 1));
  } else {
    if (number !== '') removeJob(data, [due, came, jobs], number);
    const later = fields.has('failing') || fields.has('late') ? byScore(data.change(due, 'sorted').scores) : [];
    const moved = later.filter(([, at]) => at > Number(more[0])).slice(0, Number(more[1]));
    for (const [one] of moved) data.change(due, 'sorted').scores.set(one, Number(now));
    for (const name of ['failures', 'failing', 'error', 'paused', 'gone', 'late']) fields.delete(name);
    fields.set('delivered', now);
    if (moved.length === Number(more[1])) fields.set('late', '1');
  }
  data.expire(lastResult, Number(life));
  return 'done';
};

/** By file name. */
export const RECORD_SCRIPTS: Readonly<Record<string, Script>> = {
  'append-n.lua': appendMany,
  'entries-2.lua': entriesBetween,
  'announce-1.lua': announceOne,
  'banned-1.lua': bannedOne,
  'change-1.lua': changeOne,
  'move-1.lua': moveOne,
  'enqueue-n.lua': enqueueMany,
  'take-3.lua': takeOne,
  'settle-4.lua': settleOne,
};
