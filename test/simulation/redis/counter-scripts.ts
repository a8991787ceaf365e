import { type Admission, admit, look } from '../../../src/limits/admission.ts';
import {
  ban,
  freeRefusals,
  levelAt,
  noteRefusal,
  strike,
  waitFor,
} from '../../../src/limits/ban-escalation.ts';
import {
  adoptWindows,
  correctStrikeTimes,
  correctTimes,
  eachWindow,
  endWaits,
  newCounters,
  newStrikeState,
  staleAt,
} from '../../../src/limits/counters.ts';
import { isSameCounter, kindOf } from '../../../src/limits/kinds.ts';
import type { Limits } from '../../../src/limits/limits.ts';
import { NO_SCOPES, type Scopes } from '../../../src/limits/scopes.ts';
import { copyOfCounters, type StoredCounters } from './database.ts';
import type { Script, ScriptCall } from './scripts.ts';

/** As MARGIN in rules/counters.lua. */
const MARGIN = 1_000;

/**
 * The counters to change; `save` stores them and sets their lifetime as rules/counters.lua does.
 */
function open({ data }: ScriptCall, key: string, limits: Limits) {
  const stored = data.read(key, 'counters')?.counters;
  const fresh: StoredCounters = {
    ...newCounters(limits.windows),
    marks: new Map(),
    hasCells: false,
  };
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
  return staleAt({ windows, cells, strikeState: null });
}

function save(call: ScriptCall, key: string, opened: Opened, now: number, remaining = 0): void {
  const { data } = call;
  const { counters, isOpened, staleBefore, strikesBefore } = opened;
  const isReopened = windowsStaleAt(counters) > staleBefore;
  const isExtended =
    isOpened || isReopened || JSON.stringify(counters.strikeState) !== strikesBefore;
  counters.hasCells = true;
  const lifetime = Math.max(staleAt(counters) - now, remaining, 0) + MARGIN;
  const existing = data.has(key) ? data.leftOf(key) : 0;
  data.put(
    key,
    { type: 'counters', counters },
    isExtended ? lifetime : existing > 0 ? existing : NEVER,
  );
}

function withLimits({ limits, args }: ScriptCall, at = 1): Limits {
  return limits.in(args, at);
}

/** For each window: units left, reset. */
const readingsOf = ({ readings }: Admission) =>
  readings.flatMap(({ used, unfit, resetAt }) => [unfit ? -1 - used : used, resetAt]);

function strikeFields({ windows }: Limits, admission: Admission): number[] {
  const {
    violated,
    retryAt,
    strikes,
    freeRefusals: free,
    bannedUntil,
    banBegins,
    banLevel,
  } = admission;
  const number = violated ? windows.findIndex((one) => isSameCounter(one, violated)) + 1 : 0;
  return [number, retryAt, strikes, free, bannedUntil, banBegins ? (banLevel ?? 0) : 0];
}

const VERDICTS = { admitted: 0, limited: 1, banned: 2 } as const;
const ADMITTED_WITH_STRIKES = 3;

function scopesIn({ windows }: Limits, mask: string): Scopes {
  return windows.flatMap(({ scope }, i) => (scope !== undefined && mask[i] === '1' ? [scope] : []));
}

const admitMany: Script = (call) => {
  const { keys, args, now } = call;
  const sets = Array.from({ length: Number(args[1]) }, (_, i) => withLimits(call, 2 + 3 * i));
  const response = [now];
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
      response.push(
        VERDICTS[admission.verdict],
        ...readingsOf(admission),
        ...strikeFields(limits, admission),
      );
    else if (opened.counters.strikeState)
      response.push(ADMITTED_WITH_STRIKES, ...readingsOf(admission), admission.strikes);
    else response.push(VERDICTS.admitted, ...readingsOf(admission));
  }
  for (const [key, { opened }] of all) save(call, key, opened, now);
  return response;
};

function lookAt(
  call: ScriptCall,
  limits: Limits,
  counters: StoredCounters,
  begun: Partial<Admission> = {},
) {
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

/** In place of the number of a window: too many requests in flight. */
const IN_FLIGHT = -1;

const strikeOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  adoptWindows(counters, limits.windows);
  correctTimes(counters, now);
  const { escalation } = limits;
  const number = Number(args[4]);
  const times = args.slice(6).map((text) => Math.min(Number(text), now));
  if (escalation && number === IN_FLIGHT) counters.strikeState ??= newStrikeState();
  const state = counters.strikeState;
  let begun = false;
  let isNoted = false;
  let free = 0;
  if (escalation && state && number === IN_FLIGHT) {
    for (const at of times) {
      if (state.bannedUntil > at) continue;
      begun = strike(state, escalation, null, at) === 'ban' || begun;
      isNoted = true;
    }
  } else if (escalation && state) {
    const window = limits.windows[number - 1] ?? null;
    const counts = (at: number) => {
      const { at: since, until } = waitFor(state, window);
      return at < until && at >= since + escalation.grace && state.bannedUntil <= at;
    };
    if (counts(times[0]!)) waitFor(state, window).refusals += Number(args[5]) - times.length;
    for (const at of times.filter(counts)) {
      begun = noteRefusal(state, escalation, window, NEVER, at) === 'ban' || begun;
      isNoted = true;
    }
    free = begun ? 0 : freeRefusals(state, escalation, window, now);
  }
  // Otherwise these limits may be outdated.
  if (isNoted) save(call, keys[0]!, opened, now);
  const level = state?.level ?? 0;
  const result = { freeRefusals: free, ...(begun && { banBegins: true, banLevel: level }) };
  return lookAt(call, limits, counters, result);
};

const banOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  adoptWindows(counters, limits.windows);
  correctTimes(counters, now);
  counters.strikeState ??= newStrikeState();
  if (limits.escalation)
    counters.strikeState.level = levelAt(counters.strikeState, limits.escalation, now);
  ban(counters.strikeState, limits.escalation, Number(args[4]), null, now);
  save(call, keys[0]!, opened, now);
  call.publish(args[5]!, args[6]!);
  return 1;
};

const liftOne: Script = (call) => {
  const { keys, args } = call;
  const counters = call.data.read(keys[0]!, 'counters')?.counters;
  if (counters) {
    const remaining = call.data.leftOf(keys[0]!);
    const lifted = { ...newCounters(counters.windows), marks: counters.marks, hasCells: false };
    call.data.put(keys[0]!, { type: 'counters', counters: lifted }, remaining);
  }
  call.publish(args[0]!, args[1]!);
  return 1;
};

const resetOne: Script = (call) => {
  const { keys, args } = call;
  const counters = call.data.read(keys[0]!, 'counters')?.counters;
  if (counters) {
    const remaining = call.data.leftOf(keys[0]!);
    const strikeState = counters.strikeState && structuredClone(counters.strikeState);
    if (strikeState) endWaits(strikeState);
    const reset = {
      ...newCounters(counters.windows),
      strikeState,
      marks: counters.marks,
      hasCells: false,
    };
    call.data.put(keys[0]!, { type: 'counters', counters: reset }, remaining);
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
  correctTimes(counters, now);
  let i = 0;
  eachWindow(limits.windows, (window, at, meter) => {
    if (args[5]![i++] === '1') meter.refund(counters.cells, at, window, Number(args[4]), now);
  });
  if (call.data.has(keys[0]!)) {
    if (counters.strikeState) endWaits(counters.strikeState);
    save(call, keys[0]!, opened, now);
  }
  call.publish(args[6]!, args[7]!);
  return 1;
};

/** Windows that the counters lack are added; newer windows continue to count. */
function besides(counters: StoredCounters, limits: Limits): void {
  const missing = limits.windows.filter(
    (window) => !counters.windows.some((one) => isSameCounter(one, window)),
  );
  if (missing.length > 0) adoptWindows(counters, [...counters.windows, ...missing]);
}

const chargeOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const remaining = call.data.leftOf(keys[0]!) - MARGIN;
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  const mark = args[4]!;
  if ((counters.marks.get(mark) ?? 0) >= Number(args[5])) return 0;
  counters.marks.set(mark, Number(args[5]));
  besides(counters, limits);
  correctTimes(counters, now);
  const { cells } = counters;
  eachWindow(counters.windows, (window, at, meter) => {
    const i = limits.windows.findIndex((one) => isSameCounter(one, window));
    const [units, begun] = [Number(args[9 + 2 * i]), Number(args[10 + 2 * i])];
    if (i < 0 || !(units > 0)) return;
    const { resetsAsWhole } = kindOf(window);
    const starts =
      resetsAsWhole && meter.used(cells, at, window, now) === 0 ? Math.min(begun, now) : now;
    if (now < meter.endFrom(window, starts)) meter.charge(cells, at, window, units, starts);
  });
  chargeBan(call, counters, limits);
  save(call, keys[0]!, { ...opened, isOpened: true }, now, Math.max(remaining, 0));
  return 1;
};

function chargeBan({ args, now }: ScriptCall, counters: StoredCounters, limits: Limits): void {
  const [end, begin, number] = [Number(args[6]), Number(args[7]), Number(args[8])];
  const since = Math.min(begin, now);
  const until = end - (begin - since);
  const existing = counters.strikeState?.bannedUntil ?? 0;
  if (until <= now || existing >= until) return;
  counters.strikeState ??= newStrikeState();
  const window = limits.windows[number - 1] ?? null;
  ban(counters.strikeState, limits.escalation, until - now, window, now);
  counters.strikeState.bannedSince = since;
}

const settleOne: Script = (call) => {
  const { keys, args, now } = call;
  const limits = withLimits(call);
  const remaining = call.data.leftOf(keys[0]!) - MARGIN;
  const opened = open(call, keys[0]!, limits);
  const { counters } = opened;
  let isSettled = false;
  eachWindow(counters.windows, (window, at, meter) => {
    const i = limits.windows.findIndex((one) => isSameCounter(one, window));
    const [units, end] = [Number(args[4 + 2 * i]), Number(args[5 + 2 * i])];
    if (i < 0 || units === 0) return;
    isSettled = true;
    meter.correctTimes(counters.cells, at, window, now);
    if (units > 0) meter.charge(counters.cells, at, window, units, now);
    else if (now < end) meter.refund(counters.cells, at, window, -units, now);
  });
  if (isSettled) save(call, keys[0]!, { ...opened, isOpened: true }, now, Math.max(remaining, 0));
  return 1;
};

const levelOne: Script = (call) => {
  const { keys, now } = call;
  const limits = withLimits(call);
  const counters = call.data.read(keys[0]!, 'counters')?.counters;
  if (!counters?.strikeState) return [0, 0];
  const state = counters.strikeState;
  correctStrikeTimes(state, now);
  const until = state.bannedUntil > now ? state.bannedUntil : 0;
  const response: (number | string)[] = [
    until,
    limits.escalation ? levelAt(state, limits.escalation, now) : 0,
  ];
  if (until === 0) return response;
  response.push(state.level, state.bannedSince);
  const { bannedFor } = state;
  if (!bannedFor) return response;
  response.push(kindOf(bannedFor).code, bannedFor.span, bannedFor.limit);
  return bannedFor.scope === undefined ? response : [...response, bannedFor.scope];
};

/** Tests of the twin give the time in the first argument, as those of the scripts do. */
function timed(script: Script): Script {
  return (call) => {
    const [given] = call.args;
    return script(given === '' ? call : { ...call, now: Number(given) });
  };
}

/** By file name. */
export const COUNTER_SCRIPTS: Readonly<Record<string, Script>> = {
  'admit-n.lua': timed(admitMany),
  'look-1.lua': timed(lookOne),
  'strike-1.lua': timed(strikeOne),
  'ban-1.lua': timed(banOne),
  'lift-1.lua': liftOne,
  'reset-1.lua': resetOne,
  'grant-1.lua': timed(grantOne),
  'charge-1.lua': timed(chargeOne),
  'settle-1.lua': timed(settleOne),
  'level-1.lua': timed(levelOne),
};
