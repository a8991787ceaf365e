import type { ScopeRefusal, StrikeState } from './counters.ts';
import type { BanEscalation, Window } from './limits.ts';

/** Effect of one refusal on the strike state. All rules here have a twin in state/redis/lua/rules/escalation.lua. */
export type RefusalEffect = 'none' | 'strike' | 'ban';

/**
 * Records a refusal at `now` by the limit `violated`, with the retry time `retryAt`. It is a strike if the same limit
 * first refused at least `grace` ago, so a burst in flight when the limit was reached earns none. The client's own
 * windows are one limit here, and the windows of each scope another.
 */
export function noteRefusal(
  state: StrikeState,
  escalation: BanEscalation,
  violated: Window | null,
  retryAt: number,
  now: number,
): RefusalEffect {
  const refusal = violated?.scope === undefined ? null : refusalIn(state, violated.scope);
  const [since, until] = refusal === null ? [state.refusedAt, state.refusedUntil] : [refusal.at, refusal.until];
  if (now < until) return now < since + escalation.grace ? 'none' : strike(state, escalation, violated, now);
  if (refusal === null) {
    state.refusedAt = now;
    state.refusedUntil = retryAt;
  } else {
    refusal.at = now;
    refusal.until = retryAt;
  }
  return 'none';
}

function refusalIn(state: StrikeState, scope: string): ScopeRefusal {
  state.refusedIn ??= [];
  let refusal = state.refusedIn.find((one) => one.scope === scope);
  if (!refusal) {
    refusal = { scope, at: 0, until: 0 };
    state.refusedIn.push(refusal);
  }
  return refusal;
}

/** Adds one strike for a refusal by `violated`; enough strikes within the configured window are a ban. */
export function strike(
  state: StrikeState,
  escalation: BanEscalation,
  violated: Window | null,
  now: number,
): 'strike' | 'ban' {
  state.rung = levelAt(state, escalation, now);
  state.cleanSince = now;
  state.strikes = recentStrikes(state, escalation, now);
  state.strikes.push(now);
  if (state.strikes.length < escalation.strikes) return 'strike';
  ban(state, durationAtLevel(escalation, state.rung), violated, now);
  return 'ban';
}

/** Milliseconds. */
export function durationAtLevel({ durations }: BanEscalation, level: number): number {
  return durations[Math.min(level, durations.length - 1)]!;
}

/**
 * Bans for `length` from `now` and raises the level by one. The level must be current at `now`. `cause` is the limit
 * that was ignored; `null` for a manual ban.
 */
export function ban(state: StrikeState, length: number, cause: Window | null, now: number): void {
  state.bannedUntil = now + length;
  state.bannedSince = now;
  state.bannedFor = cause;
  state.rung += 1;
  state.strikes = [];
  state.cleanSince = state.bannedUntil;
}

/** The level at `now`: it drops by one for each whole `forget` since the last strike or the end of the last ban. */
export function levelAt(state: StrikeState, escalation: BanEscalation, now: number): number {
  const cleanSpans = Math.max(0, Math.floor((now - state.cleanSince) / escalation.decay));
  return Math.max(0, state.rung - cleanSpans);
}

export function recentStrikes(state: StrikeState, escalation: BanEscalation, now: number): number[] {
  return state.strikes.filter((at) => at > now - escalation.window);
}
