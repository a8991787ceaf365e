import { type Admission, admit, look } from '../../../src/limits/admission.ts';
import { ban, levelAt, noteRefusal } from '../../../src/limits/ban-escalation.ts';
import {
  adoptWindows,
  clearRefusals,
  eachWindow,
  newCounters,
  newStrikeState,
  staleAt,
} from '../../../src/limits/counters.ts';
import { isSameCounter, kindOf } from '../../../src/limits/kinds.ts';
import type { Limits, Window } from '../../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes } from '../../../src/limits/scopes.ts';
import { copyOfCounters, type StoredCounters } from './database.ts';
import type { Script, ScriptCall } from './scripts.ts';

/** As MARGIN in rules/counters.lua. */
const MARGIN = 1_000;

/** The counters to change; `save` stores them and sets their lifetime as rules/counters.lua does. */
function open({ data }: ScriptCall, key: string, limits: Limits) {
  const stored = data.read(key, 'counters')?.counters;
  const fresh: StoredCounters = { ...newCounters(limits.windows), marks: new Map(), hasCells: false };
  // The stored counters stay as they are for a failover that loses this write.
  const counters = stored ? copyOfCounters(stored) : fresh;
  const isOpened = !counters.hasCells;
  const staleBefore = windowsStaleAt(counters);
  const strikesBefore = JSON.stringify(counters.strikeState);
  return { counters, isOpened, staleBefore, strikesBefore };
}

type Opened = ReturnType<typeof open>;

const NEVER = Number.POSITIVE_INFINITY;

function windowsStaleAt({ windows, cells }: StoredCounters): number {
  return staleAt({ windows, cells, strikeState: null }, null);
}

function save(call: ScriptCall, key: string, opened: Opened, limits: Limits, now: number, left = 0): void {
  const { data, mistakes } = call;
  const { counters, isOpened, staleBefore, strikesBefore } = opened;
  const isReopened = windowsStaleAt(counters) > staleBefore && !mistakes.has('reopened window keeps its lifetime');
  const isExtended = isOpened || isReopened || JSON.stringify(counters.strikeState) !== strikesBefore;
  counters.hasCells = true;
  const lifetime = Math.max(staleAt(counters, limits.escalation) - now, left, 0) + MARGIN;
  const known = data.has(key) ? data.leftOf(key) : 0;
  data.put(key, { type: 'counters', counters }, isExtended ? lifetime : known > 0 ? known : NEVER);
}

function withLimits({ limits, args }: ScriptCall, at = 1): Limits {
  return limits.in(args, at);
}

/** For each window: remaining, reset. */
const readingsOf = ({ readings }: Admission) => readings.flatMap(({ remaining, resetAt }) => [remaining, resetAt]);

function strikeFields({ windows }: Limits, admission: Admission): number[] {
  const { violated, retryAt, strikes, bannedUntil, banBegins, banLevel } = admission;
  const number = violated ? windows.findIndex((one) => isSameCounter(one, violated)) + 1 : 0;
  return [number, retryAt, strikes, bannedUntil, banBegins ? (banLevel ?? 0) : 0];
}

const VERDICTS = { admitted: 0, limited: 1, banned: 2 } as const;
const ADMITTED_WITH_STRIKES = 3;

function scopesIn({ windows }: Limits, mask: string): Scopes {
  return windows.flatMap(({ scope }, i) => (scope !== undefined && mask[i] === '1' ? [scope] : []));
}

const admitMany: Script = (call) => {
  const { keys, args, now } = call;
  const sets = Array.from({ length: Number(args[1]) }, (_, i) => withLimits(call, 2 + 3 * i));
  const answer = [now];
  const all = new Map<string, { opened: Opened; limits: Limits }>();
  for (const [i, key] of keys.entries()) {
    const at = 2 + 3 * sets.length + 2 * i;
    const limits = sets[Number(args[at]) - 1]!;
    const [units, mask] = args[at + 1]!.split(':');
    const scopes = mask === undefined ? NO_SCOPES : scopesIn(limits, mask);
    const opened = all.get(key)?.opened ?? open(call, key, limits);
    all.set(key, { opened, limits });
    const admission = admit(opened.counters, limits, Number(units), now, scopes);
    if (admission.verdict !== 'admitted')
      answer.push(VERDICTS[admission.verdict], ...readingsOf(admission), ...strikeFields(limits, admission));
    else if (opened.counters.strikeState)
      answer.push(ADMITTED_WITH_STRIKES, ...readingsOf(admission), admission.strikes);
    else answer.push(VERDICTS.admitted, ...readingsOf(admission));
  }
  for (const [key, { opened, limits }] of all) save(call, key, opened, limits, now);
  return answer;
};

function lookAt(call: ScriptCall, limits: Limits, counters: StoredCounters, begun: Partial<Admission> = {}) {
  const admission = { ...look(counters, limits, call.now), ...begun };
  return [
    call.now,
    VERDICTS[admission.verdict],
    ...readingsOf(admission),
    ...strikeFields(limits, { ...admission, violated: null, retryAt: 0 }),
  ];
}

const lookOne: Script = (call) => {
  const limits = withLimits(call);
  return lookAt(call, limits, open(call, call.keys[0]!, limits).counters);
};

const strikeOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  adoptWindows(counters, limits.windows);
  const { escalation } = limits;
  const window = limits.windows[Number(args[4]) - 1] ?? null;
  let begun = false;
  for (const text of counters.strikeState && escalation ? args.slice(5) : []) {
    const at = Math.min(Number(text), now);
    const state = counters.strikeState!;
    if (at >= refusedUntil(counters, window) || state.bannedUntil > at) continue;
    begun = noteRefusal(state, escalation!, window, 0, at) === 'ban' || begun;
  }
  if (call.data.has(keys[0]!)) save(call, keys[0]!, opened, limits, now);
  const level = counters.strikeState?.rung ?? 0;
  return lookAt(call, limits, counters, begun ? { banBegins: true, banLevel: level } : {});
};

function refusedUntil({ strikeState }: StoredCounters, window: Window | null): number {
  if (window?.scope === undefined) return strikeState!.refusedUntil;
  return strikeState!.refusedIn?.find(({ scope }) => scope === window.scope)?.until ?? 0;
}

const banOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  adoptWindows(counters, limits.windows);
  counters.strikeState ??= newStrikeState();
  if (limits.escalation) counters.strikeState.rung = levelAt(counters.strikeState, limits.escalation, now);
  ban(counters.strikeState, Number(args[4]), null, now);
  save(call, keys[0]!, opened, limits, now);
  call.publish(args[5]!, args[6]!);
  return 1;
};

const liftOne: Script = (call) => {
  const { keys, args } = call;
  const counters = call.data.read(keys[0]!, 'counters')?.counters;
  if (counters) {
    const left = call.data.leftOf(keys[0]!);
    const lifted = { ...newCounters(counters.windows), marks: counters.marks, hasCells: false };
    call.data.put(keys[0]!, { type: 'counters', counters: lifted }, left);
  }
  call.publish(args[0]!, args[1]!);
  return 1;
};

const resetOne: Script = (call) => {
  const { keys, args } = call;
  const counters = call.data.read(keys[0]!, 'counters')?.counters;
  if (counters) {
    const left = call.data.leftOf(keys[0]!);
    const strikeState = counters.strikeState && structuredClone(counters.strikeState);
    if (strikeState) clearRefusals(strikeState);
    const reset = { ...newCounters(counters.windows), strikeState, marks: counters.marks, hasCells: false };
    call.data.put(keys[0]!, { type: 'counters', counters: reset }, left);
  }
  call.publish(args[0]!, args[1]!);
  return 1;
};

const grantOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  adoptWindows(counters, limits.windows);
  let i = 0;
  eachWindow(limits.windows, (window, at, meter) => {
    if (args[5]![i++] === '1') meter.refund(counters.cells, at, window, Number(args[4]), now);
  });
  if (call.data.has(keys[0]!)) {
    if (counters.strikeState) clearRefusals(counters.strikeState);
    save(call, keys[0]!, opened, limits, now);
  }
  call.publish(args[6]!, args[7]!);
  return 1;
};

/** Windows that the counters lack are added; newer windows continue to count. */
function besides(counters: StoredCounters, limits: Limits): void {
  const missing = limits.windows.filter((window) => !counters.windows.some((one) => isSameCounter(one, window)));
  if (missing.length > 0) adoptWindows(counters, [...counters.windows, ...missing]);
}

const chargeOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const left = call.data.leftOf(keys[0]!) - MARGIN;
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  const mark = args[4]!;
  if ((counters.marks.get(mark) ?? 0) >= Number(args[5])) return 0;
  counters.marks.set(mark, Number(args[5]));
  besides(counters, limits);
  const { cells } = counters;
  eachWindow(counters.windows, (window, at, meter) => {
    const i = limits.windows.findIndex((one) => isSameCounter(one, window));
    const [units, begun] = [Number(args[9 + 2 * i]), Number(args[10 + 2 * i])];
    if (i < 0 || !(units > 0)) return;
    const { resetsAsWhole } = kindOf(window);
    const starts = resetsAsWhole && meter.used(cells, at, window, now) === 0 ? begun : now;
    if (!resetsAsWhole || now < starts + window.span) meter.charge(cells, at, window, units, starts);
  });
  chargeBan(call, counters, limits);
  save(call, keys[0]!, { ...opened, isOpened: true }, limits, now, Math.max(left, 0));
  return 1;
};

function chargeBan({ args, now }: ScriptCall, counters: StoredCounters, limits: Limits): void {
  const [until, since, number] = [Number(args[6]), Number(args[7]), Number(args[8])];
  const known = counters.strikeState?.bannedUntil ?? 0;
  if (until <= now || known >= until) return;
  counters.strikeState ??= newStrikeState();
  ban(counters.strikeState, until - now, limits.windows[number - 1] ?? null, now);
  counters.strikeState.bannedSince = Math.min(since, now);
}

const levelOne: Script = (call) => {
  const { keys, now } = call;
  const limits = withLimits(call);
  const state = call.data.read(keys[0]!, 'counters')?.counters.strikeState;
  if (!state) return [0, 0];
  const until = state.bannedUntil > now ? state.bannedUntil : 0;
  const answer: (number | string)[] = [until, limits.escalation ? levelAt(state, limits.escalation, now) : 0];
  if (until === 0) return answer;
  answer.push(state.rung, state.bannedSince);
  const { bannedFor } = state;
  if (!bannedFor) return answer;
  answer.push(kindOf(bannedFor).code, bannedFor.span, bannedFor.limit);
  return bannedFor.scope === undefined ? answer : [...answer, bannedFor.scope];
};

/** By file name. */
export const COUNTER_SCRIPTS: Readonly<Record<string, Script>> = {
  'admit-n.lua': admitMany,
  'look-1.lua': lookOne,
  'strike-1.lua': strikeOne,
  'ban-1.lua': banOne,
  'lift-1.lua': liftOne,
  'reset-1.lua': resetOne,
  'grant-1.lua': grantOne,
  'charge-1.lua': chargeOne,
  'level-1.lua': levelOne,
};
