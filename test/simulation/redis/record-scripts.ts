import { isNewer, type RedisData, type StreamEntry } from './database.ts';
import type { Script, ScriptCall } from './scripts.ts';

/** Members by score, then by name. */
export function byScore(scores: ReadonlyMap<string, number>): [member: string, score: number][] {
  return [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : Number(a > b)));
}

/** What cjson reads; `undefined`: it is not valid. */
function decoded(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface KeyChange {
  readonly id: string;
  readonly version: string;
  readonly hash: string;
  readonly previous: string;
  readonly record: string;
  before?: Before;
}

interface Before {
  readonly version?: unknown;
  readonly hash?: string;
  readonly previous?: { readonly hash?: string } | null;
}

interface TokenChange {
  readonly name: string;
  readonly record: string;
}

const hashesIn = ({ hash, previous }: Before) =>
  [hash, previous?.hash].filter((one) => one !== undefined);

function changesIn(args: readonly string[]) {
  const keys: KeyChange[] = [];
  let token: TokenChange | null = null;
  for (let i = 10; i < args.length; ) {
    if (args[i + 1] === 'token') {
      token = { name: args[i]!, record: args[i + 2]! };
      i += 3;
    } else {
      const [id, version, hash, previous, record] = args.slice(i, i + 5) as string[];
      keys.push({ id: id!, version: version!, hash: hash!, previous: previous!, record: record! });
      i += 5;
    }
  }
  return { keys, token };
}

/** Why nothing is changed. */
function refusalOf(call: ScriptCall, keys: readonly KeyChange[], token: TokenChange | null) {
  const [, records, hashes, tokens] = call.keys as [string, string, string, string];
  const fieldsOf = (name: string) => call.data.read(name, 'hash')?.fields ?? new Map();
  const owners = new Map<string, string>();
  const existing = new Set<string>();
  for (const key of keys) {
    const stored = fieldsOf(records).get(key.id);
    if (key.version === '') {
      if (stored !== undefined || existing.has(key.id)) return 'taken';
    } else {
      if (stored === undefined) return 'unknown';
      const before = decoded(stored) as Before | null | undefined;
      if (typeof before !== 'object' || before === null) return 'broken';
      if (before.version !== Number(key.version)) return 'changed';
      if (hashesIn(before).some((hash) => typeof hash !== 'string')) return 'broken';
      key.before = before;
    }
    const owner = owners.get(key.hash) ?? fieldsOf(hashes).get(key.hash);
    if (owner !== undefined && owner !== key.id) return 'taken';
    owners.set(key.hash, key.id);
    existing.add(key.id);
  }
  if (token && fieldsOf(tokens).has(token.name) !== (token.record === '')) return 'token';
  return null;
}

/** Returns the hashes that the key had before. */
function applyKey({ data, keys: names }: ScriptCall, key: KeyChange): string[] {
  const [, records, hashes] = names as [string, string, string];
  const old = key.before ? hashesIn(key.before) : [];
  for (const hash of old) {
    if (hash !== key.hash && hash !== key.previous) data.removeField(hashes, hash);
  }
  data.change(records, 'hash').fields.set(key.id, key.record);
  const { fields } = data.change(hashes, 'hash');
  fields.set(key.hash, key.id);
  if (key.previous !== '') fields.set(key.previous, key.id);
  return old;
}

const READ_AT_ONCE = 50;

function timeOf(entry: string): number | null {
  const { at } = (decoded(entry) ?? {}) as { at?: unknown };
  return typeof at === 'number' ? at : null;
}

/** How many of the oldest entries are too old. */
function oldIn({ data, args, now: clock }: ScriptCall, log: string, age: number): number {
  const at = timeOf(args[2]!) ?? 0;
  const since = Math.min(at, clock) - age;
  let old = 0;
  const entries = data.read(log, 'stream')?.entries ?? [];
  for (const [n, [, fields]] of entries.slice(0, READ_AT_ONCE).entries()) {
    const time = timeOf(fields[1]!);
    if (time === null || (time >= since && time <= at)) break;
    if (time < since) old = n + 1;
  }
  return old;
}

function appendTo(
  call: ScriptCall,
  log: string,
  name: string,
  changed: readonly string[],
  { keep, age }: { readonly keep: number; readonly age?: number },
): number {
  const { data, keys, args } = call;
  const { fields } = data.change(keys[0]!, 'hash');
  const number = Number(fields.get(name) ?? 0) + 1;
  fields.set(name, String(number));
  const { entries } = data.change(log, 'stream');
  const tooOld = age === undefined ? 0 : oldIn(call, log, age);
  const drop = Math.min(Math.max(entries.length + 1 - keep, tooOld), Number(args[9]));
  if (drop > 0) entries.splice(0, drop);
  data.addEntry(log, `${number}-${args[3]}`, ['entry', args[2]!, ...changed]);
  return number;
}

const appendOne: Script = (call) => {
  const { data, keys: names, args } = call;
  const [head, , , tokens, audit, bans, response] = names as string[];
  if (data.read(head!, 'hash')?.fields.get('epoch') !== args[0]) return 'epoch';
  const lifetime = Number(args[5]);
  if (args[4] !== '' && data.has(response!)) {
    if (data.leftOf(response!) > lifetime) data.expire(response!, lifetime);
    return 'again';
  }
  const { keys, token } = changesIn(args);
  const refusal = refusalOf(call, keys, token);
  if (refusal !== null) return refusal;
  const ids = keys.map(({ id }) => id).join(' ');
  const ofToken = token ? ['token', token.name] : [];
  const changed = keys.length > 0 ? ['keys', ids] : ofToken;
  const [keep, keepBans, age] = args.slice(6, 9) as [string, string, string];
  const ofAudit =
    keep === '' ? null : appendTo(call, audit!, 'audit', changed, { keep: Number(keep) });
  const bounds = { keep: Number(keepBans), age: Number(age) };
  const ofBans = keepBans === '' ? null : appendTo(call, bans!, 'bans', changed, bounds);
  const old = keys.flatMap((key) => applyKey(call, key));
  if (token?.record === '') data.removeField(tokens!, token.name);
  else if (token) data.change(tokens!, 'hash').fields.set(token.name, token.record);
  if (args[4] !== '') data.put(response!, { type: 'text', text: args[4]! }, lifetime);
  if (ofAudit !== null) call.publish(args[1]!, [`l:${ofAudit}`, ...old].join(' '));
  return ofAudit ?? ofBans;
};

const followOne: Script = ({ data, keys, args }) => {
  const [head, records, tokens, audit, bans] = keys as [string, string, string, string, string];
  const fieldsOf = (name: string) => data.read(name, 'hash')?.fields ?? new Map<string, string>();
  const entriesOf = (log: string) => data.read(log, 'stream')?.entries ?? [];
  const most = Number(args[2]);

  /** `null`: the known entry is missing. */
  function after(log: string, name: string, id: string): StreamEntry[] | null {
    const all = entriesOf(log);
    const existing = fieldsOf(head).get(name) ?? 0;
    const from = all.filter((entry) => !isNewer(id, entry[0])).slice(0, most + 1);
    const [first] = from;
    if (!first) return all.length === 0 && numberOf(id) === Number(existing) ? [] : null;
    if (first[0] === id) return from.slice(1);
    return id.endsWith('-0') && numberOf(first[0]) === numberOf(id) + 1 ? from : null;
  }

  const found = after(audit, 'audit', args[0]!);
  const ids = new Set<string>();
  let areTokens = false;
  for (const [n, [, fields]] of [...(found ?? [])].entries()) {
    if (fields[2] === 'keys') {
      if (n > 0 && ids.size >= Number(args[3])) {
        found!.splice(n);
        break;
      }
      for (const id of fields[3]!.match(/\S+/g) ?? []) ids.add(id);
    }
    areTokens ||= fields[2] === 'token';
  }
  const changed = [...ids].flatMap((id) => {
    const record = fieldsOf(records).get(id);
    return record === undefined ? [] : [id, record];
  });
  return [
    fieldsOf(head).get('epoch') ?? null,
    found,
    after(bans, 'bans', args[1]!),
    changed,
    areTokens ? [...fieldsOf(tokens).values()] : null,
    entriesOf(audit)[0]?.[0] ?? null,
    entriesOf(bans)[0]?.[0] ?? null,
  ];
};

const numberOf = (id: string): number => Number.parseInt(id, 10);

const findMany: Script = ({ data, keys, args }) => {
  const [head, records, hashes] = keys as [string, string, string];
  const fieldsOf = (name: string) => data.read(name, 'hash')?.fields ?? new Map<string, string>();
  const [by, ...names] = args as [string, ...string[]];
  const recordOf = (name: string) => {
    const id = by === 'hash' ? fieldsOf(hashes).get(name) : name;
    return id === undefined ? null : (fieldsOf(records).get(id) ?? null);
  };
  return [fieldsOf(head).get('epoch') ?? null, ...names.map(recordOf)];
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

const moveOne: Script = ({ data, keys, args }) => {
  const [name, from, to] = args as [string, string, string];
  if ((data.read(keys[0]!, 'hash')?.fields.get(name) ?? '') !== from) return 0;
  data.change(keys[0]!, 'hash').fields.set(name, to);
  return 1;
};

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
  const [type, event, ...endpoints] = args.slice(5) as [string, string, ...string[]];
  const existing = data.read(name, 'hash')?.fields;
  if (existing !== undefined) {
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
  data.addEntry(events, `${number}-0`, ['event', event]);
  const { entries } = data.change(events, 'stream');
  entries.splice(0, entries.length - most);
  const { items } = data.change(types, 'list');
  items.push(type);
  items.splice(0, items.length - most);
  for (const key of [events, types]) data.expire(key, life);
  const positions = data.change(marks, 'hash').fields;
  for (const one of endpoints)
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

const fieldsIn = (data: RedisData, key: string) =>
  data.read(key, 'hash')?.fields ?? new Map<string, string>();

const putParts: Script = ({ data, keys, args, now }) => {
  const [parts, taken] = keys as [string, string];
  const refused: string[] = [];
  for (let i = 1; i < args.length; i += 2) {
    const [name, content] = [args[i]!, args[i + 1]!];
    const requests = fieldsIn(data, taken).get(name);
    if (requests !== undefined) refused.push(name, requests);
    else data.change(parts, 'hash').fields.set(name, `${args[0] === '1' ? 0 : now} ${content}`);
  }
  return refused;
};

const readUsage: Script = ({ data, keys, now }) => [
  now,
  ...keys.map((key) => [...fieldsIn(data, key)].flat()),
];

const commitMany: Script = ({ data, keys, args }) => {
  const [turn, parts, taken, sizes, ...sums] = keys as [string, string, string, string];
  if (data.read(turn, 'text')?.text !== args[0]) return 0;
  for (const [i, key] of (sums as string[]).entries()) {
    const [name, content] = [args[2 + 2 * i]!, args[3 + 2 * i]!];
    const { fields } = data.change(sizes, 'hash');
    if (content === '') {
      data.remove(key);
      fields.delete(name);
    } else {
      data.put(key, { type: 'text', text: content });
      fields.set(name, String(content.length));
    }
  }
  for (let i = 2 + 2 * sums.length; i < args.length; i += 2) {
    const [name, requests] = [args[i]!, args[i + 1]!];
    data.change(parts, 'hash').fields.delete(name);
    if (requests === '') continue;
    data.change(taken, 'hash').fields.set(name, requests);
    data.expire(taken, Number(args[1]));
  }
  return 1;
};

const writeProbe: Script = ({ data, keys, args }) => {
  data.put(keys[0]!, { type: 'text', text: '' }, Number(args[0]));
  return 1;
};

/** By file name. */
export const RECORD_SCRIPTS: Readonly<Record<string, Script>> = {
  'append-7.lua': appendOne,
  'find-3.lua': findMany,
  'follow-5.lua': followOne,
  'bound-1.lua': boundOne,
  'used-1.lua': usedOne,
  'announce-1.lua': announceOne,
  'banned-1.lua': bannedOne,
  'commit-n.lua': commitMany,
  'parts-2.lua': putParts,
  'usage-2.lua': readUsage,
  'move-1.lua': moveOne,
  'enqueue-6.lua': enqueueOne,
  'clock-1.lua': readClock,
  'probe-1.lua': writeProbe,
};
