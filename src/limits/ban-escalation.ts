import type { RefusedIn, StrikeState } from './counters.ts';
import type { BanEscalation, Window } from './limits.ts';

/** What one refusal did to a subject's conduct. All rules here have a twin in state/redis/lua/rules/ladder.lua. */
export type Consequence = 'none' | 'strike' | 'ban';

/**
 * Takes note of a refusal at `now` by the limit `violated`, whose caller is told to come back at `retryAt`. It is a strike when an earlier refusal
 * of the same limit was answered at least `grace` ago: a burst that was in flight when the limit was reached earns none. The
 * client's own windows are one limit here, and the windows of each scope another.
 */
export function noteRefusal(
  conduct: StrikeState,
  ladder: BanEscalation,
  violated: Window | null,
  retryAt: number,
  now: number,
): Consequence {
  const scope = violated?.scope;
  const isFirst = scope === undefined ? noteOwn(conduct, retryAt, now) : noteIn(toldIn(conduct, scope), retryAt, now);
  if (isFirst) return 'none';
  const refusedAt = scope === undefined ? conduct.refusedAt : toldIn(conduct, scope).at;
  return now < refusedAt + ladder.grace ? 'none' : strike(conduct, ladder, violated, now);
}

function noteOwn(conduct: StrikeState, retryAt: number, now: number): boolean {
  if (now < conduct.refusedUntil) return false;
  conduct.refusedAt = now;
  conduct.refusedUntil = retryAt;
  return true;
}

function noteIn(told: RefusedIn, retryAt: number, now: number): boolean {
  if (now < told.until) return false;
  told.at = now;
  told.until = retryAt;
  return true;
}

function toldIn(conduct: StrikeState, scope: string): RefusedIn {
  conduct.refusedIn ??= [];
  let told = conduct.refusedIn.find((one) => one.scope === scope);
  if (!told) {
    told = { scope, at: 0, until: 0 };
    conduct.refusedIn.push(told);
  }
  return told;
}

/** One strike by a refusal of the limit `violated`; enough of them within the ladder's span are a ban. */
export function strike(
  conduct: StrikeState,
  ladder: BanEscalation,
  violated: Window | null,
  now: number,
): 'strike' | 'ban' {
  conduct.rung = levelAt(conduct, ladder, now);
  conduct.cleanSince = now;
  conduct.strikes = recentStrikes(conduct, ladder, now);
  conduct.strikes.push(now);
  if (conduct.strikes.length < ladder.strikes) return 'strike';
  ban(conduct, durationAtLevel(ladder, conduct.rung), violated, now);
  return 'ban';
}

/** How long a ban is after `rung` others that are not forgotten, milliseconds. */
export function durationAtLevel({ durations: lengths }: BanEscalation, rung: number): number {
  return lengths[Math.min(rung, lengths.length - 1)]!;
}

/**
 * Bans for `length` from `now` and climbs one rung. Call with the rung brought up to `now`. `cause` is the limit whose
 * refusals were not heeded; `null`: a person's decision.
 */
export function ban(conduct: StrikeState, length: number, cause: Window | null, now: number): void {
  conduct.bannedUntil = now + length;
  conduct.bannedSince = now;
  conduct.bannedFor = cause;
  conduct.rung += 1;
  conduct.strikes = [];
  conduct.cleanSince = conduct.bannedUntil;
}

/** The rung at `now`: one is forgotten for each whole `forget` since the last strike or the end of the last ban. */
export function levelAt(conduct: StrikeState, ladder: BanEscalation, now: number): number {
  const cleanSpans = Math.max(0, Math.floor((now - conduct.cleanSince) / ladder.decay));
  return Math.max(0, conduct.rung - cleanSpans);
}

/** The strikes that still count towards a ban at `now`. */
export function recentStrikes(conduct: StrikeState, ladder: BanEscalation, now: number): number[] {
  return conduct.strikes.filter((at) => at > now - ladder.window);
}
