import { isSameCounter, meterOf } from './kinds.ts';
import { type Conduct, eachWindow, type Ledger, newConduct } from './ledger.ts';
import type { Window } from './limits.ts';

/**
 * Makes one ledger of two that were kept apart for the same subject, so that nothing either remembers is given out again and no
 * ban ends: windows as `Meter.merge` says, the later end of a ban, the higher rung, the strikes of both. Merging the same ledger in
 * again changes nothing. Neither is changed.
 */
export function mergeLedgers(one: Ledger, other: Ledger): Ledger {
  const windows = sameWindows(one, other) ? one.windows : allWindows(one, other);
  const cells: number[] = [];
  for (const window of windows) {
    const at = cells.length;
    const [mine, theirs] = [cellsOf(one, window), cellsOf(other, window)];
    cells.push(...(mine ?? theirs!));
    if (mine && theirs) meterOf(window).merge(cells, at, theirs, 0);
  }
  const conduct = mergeConducts(one.conduct, other.conduct);
  if (conduct === null) return { windows, cells, conduct };
  // What was told about coming back belongs to the limits under which it was told.
  const told = laterTold(one, other);
  const isTold = told !== null && sameWindows(told, { windows });
  const { refusedAt, refusedUntil } = isTold ? told.conduct! : newConduct();
  // Of scopes it is forgotten: at worst one more refusal is no strike.
  const merged = { ...conduct, refusedAt, refusedUntil, refusedIn: undefined };
  return { windows: isTold ? told.windows : windows, cells, conduct: merged };
}

function mergeConducts(one: Conduct | null, other: Conduct | null): Conduct | null {
  if (one === null || other === null) return one ?? other;
  const ban = later(one, other);
  return {
    refusedAt: 0,
    refusedUntil: 0,
    // A ban has used up the strikes that led to it.
    strikes: allStrikes(one.strikes, other.strikes).filter((at) => at > ban.bannedSince),
    bannedUntil: ban.bannedUntil,
    bannedSince: ban.bannedSince,
    bannedFor: ban.bannedFor,
    rung: Math.max(one.rung, other.rung),
    cleanSince: Math.max(one.cleanSince, other.cleanSince),
  };
}

function later(one: Conduct, other: Conduct): Conduct {
  if (one.bannedUntil !== other.bannedUntil) return one.bannedUntil > other.bannedUntil ? one : other;
  return one.bannedSince >= other.bannedSince ? one : other;
}

/** The one whose caller was told to come back later; `null`: neither was told. */
function laterTold(one: Ledger, other: Ledger): Ledger | null {
  const until = ({ conduct }: Ledger) => conduct?.refusedUntil ?? 0;
  const told = until(one) >= until(other) ? one : other;
  return until(told) === 0 ? null : told;
}

/** The strikes of both, oldest first; one that both have counts once. */
function allStrikes(one: readonly number[], other: readonly number[]): number[] {
  const rest = [...one];
  const more = other.filter((at) => {
    const found = rest.indexOf(at);
    if (found !== -1) rest.splice(found, 1);
    return found === -1;
  });
  return [...one, ...more].sort((a, b) => a - b);
}

function sameWindows(a: Pick<Ledger, 'windows'>, b: Pick<Ledger, 'windows'>): boolean {
  return a.windows.length === b.windows.length && a.windows.every((window, i) => isSameCounter(window, b.windows[i]!));
}

function allWindows({ windows }: Ledger, other: Ledger): Window[] {
  const more = other.windows.filter((window) => !windows.some((known) => isSameCounter(known, window)));
  return [...windows, ...more].sort(
    (a, b) => a.span - b.span || a.kind.localeCompare(b.kind) || (a.scope ?? '').localeCompare(b.scope ?? ''),
  );
}

function cellsOf(ledger: Ledger, wanted: Window): number[] | null {
  let found: number[] | null = null;
  eachWindow(ledger.windows, (window, at, { size }) => {
    if (isSameCounter(window, wanted)) found = ledger.cells.slice(at, at + size);
  });
  return found;
}
