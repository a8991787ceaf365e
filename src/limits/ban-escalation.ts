import type { RefusedIn, StrikeState } from './counters.ts';
import type { BanEscalation, Window } from './limits.ts';

/** Effect of one refusal on the strike state. All rules here have a twin in state/redis/lua/rules/ladder.lua. */
export type Consequence = 'none' | 'strike' | 'ban';

/**
 * Records a refusal at `now` by the limit `violated`, with the retry time `retryAt`. It is a strike if the same limit
 * first refused at least `grace` ago, so a burst in flight when the limit was reached earns none. The client's own
 * windows are one limit here, and the windows of each scope another.
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

/** Adds one strike for a refusal by `violated`; enough strikes within the configured window are a ban. */
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

/** Length of a ban at level `rung`, milliseconds. */
export function durationAtLevel({ durations: lengths }: BanEscalation, rung: number): number {
  return lengths[Math.min(rung, lengths.length - 1)]!;
}

/**
 * Bans for `length` from `now` and raises the level by one. The level must be current at `now`. `cause` is the limit
 * that was ignored; `null` for a manual ban.
 */
export function ban(conduct: StrikeState, length: number, cause: Window | null, now: number): void {
  conduct.bannedUntil = now + length;
  conduct.bannedSince = now;
  conduct.bannedFor = cause;
  conduct.rung += 1;
  conduct.strikes = [];
  conduct.cleanSince = conduct.bannedUntil;
}

/** The level at `now`: it drops by one for each whole `forget` since the last strike or the end of the last ban. */
export function levelAt(conduct: StrikeState, ladder: BanEscalation, now: number): number {
  const cleanSpans = Math.max(0, Math.floor((now - conduct.cleanSince) / ladder.decay));
  return Math.max(0, conduct.rung - cleanSpans);
}

export function recentStrikes(conduct: StrikeState, ladder: BanEscalation, now: number): number[] {
  return conduct.strikes.filter((at) => at > now - ladder.window);
}
