import type { StrikeState, Wait } from './counters.ts';
import type { BanEscalation, Window } from './limits.ts';

/**
 * Effect of one refusal on the strike state. All rules here have a twin in
 * state/redis/lua/rules/escalation.lua.
 */
type RefusalEffect = 'none' | 'strike' | 'ban';

/**
 * Records a refusal at `now` by the limit `violated`, with the retry time `retryAt`. The client's
 * own windows are one limit here, and the windows of each scope another.
 */
export function noteRefusal(
  state: StrikeState,
  escalation: BanEscalation,
  violated: Window | null,
  retryAt: number,
  now: number,
): RefusalEffect {
  const wait = waitFor(state, violated);
  return isStrike(wait, escalation, violated?.limit, retryAt, now)
    ? strike(state, escalation, violated, now)
    : 'none';
}

/**
 * Refusals in one wait that are not strikes, by a limit of `units`; without `units` the limit is
 * unknown, and they are as many as may be. More workers than units have no use for a key.
 */
export function freeIn(
  { workers, minWorkers }: BanEscalation,
  units = workers,
): number {
  return Math.min(workers, Math.max(minWorkers, units));
}

/**
 * Records a refusal in a wait, which lasts from the first refusal by a limit of `units` until its
 * retry time. A client that waits is refused at most once in it, so more refusals than workers may
 * share the key prove that one did not wait: each further one is a strike. Refusals within `grace`
 * do not count: their requests may have been sent before the first refusal arrived.
 */
export function isStrike(
  wait: Wait,
  escalation: BanEscalation,
  units: number | undefined,
  retryAt: number,
  now: number,
): boolean {
  if (now >= wait.until) {
    wait.at = now;
    wait.until = retryAt;
    wait.refusals = 1;
    return false;
  }
  // A cheaper request may fit earlier, and its client returns then.
  wait.until = Math.min(wait.until, retryAt);
  if (now < wait.at + escalation.grace) return false;
  wait.refusals += 1;
  return wait.refusals > freeIn(escalation, units);
}

/** Refusals by `violated` that would not be strikes yet, in the wait at `now`. */
export function freeRefusals(
  state: StrikeState,
  escalation: BanEscalation,
  violated: Window | null,
  now: number,
): number {
  return freeAfter(waitFor(state, violated), escalation, violated?.limit, now);
}

/** As `freeRefusals`, in this wait after a refusal by a limit of `units`. */
export function freeAfter(
  wait: Wait,
  escalation: BanEscalation,
  units: number | undefined,
  now: number,
): number {
  const free = freeIn(escalation, units);
  return now < wait.until ? Math.max(0, free - wait.refusals) : free;
}

/** The wait after a refusal by `violated`; ended if there was none. */
export function waitFor(state: StrikeState, violated: Window | null): Wait {
  const scope = violated?.scope;
  if (scope === undefined) return state.refused;
  state.refusedIn ??= [];
  let wait = state.refusedIn.find((one) => one.scope === scope);
  if (!wait) {
    wait = { scope, at: 0, until: 0, refusals: 0 };
    state.refusedIn.push(wait);
  }
  return wait;
}

/**
 * Adds one strike for a refusal by `violated`; enough strikes within the configured window are a
 * ban.
 */
export function strike(
  state: StrikeState,
  escalation: BanEscalation,
  violated: Window | null,
  now: number,
): 'strike' | 'ban' {
  state.level = levelAt(state, escalation, now);
  state.cleanSince = now;
  state.strikes = recentStrikes(state, escalation, now);
  state.strikes.push(now);
  state.forgottenAt = forgottenAt(state, escalation);
  if (state.strikes.length < escalation.strikes) return 'strike';
  ban(
    state,
    escalation,
    durationAtLevel(escalation, state.level),
    violated,
    now,
  );
  return 'ban';
}

/** Milliseconds. */
export function durationAtLevel(
  { durations }: BanEscalation,
  level: number,
): number {
  return durations[Math.min(level, durations.length - 1)]!;
}

/**
 * Bans for `length` from `now` and raises the level by one, unless the ban replaces one in force:
 * the client has done nothing since. The level must be current at `now`. `cause` is the limit that
 * was ignored; `null` for a manual ban.
 */
export function ban(
  state: StrikeState,
  escalation: BanEscalation | null,
  length: number,
  cause: Window | null,
  now: number,
): void {
  if (now >= state.bannedUntil) state.level += 1;
  state.bannedUntil = now + length;
  state.bannedSince = now;
  state.bannedFor = cause;
  state.strikes = [];
  state.cleanSince = state.bannedUntil;
  state.forgottenAt = forgottenAt(state, escalation);
}

/**
 * When the strikes and the level have no effect any more. It is stored, because the step that drops
 * old counters does not know the escalation of each subject.
 */
function forgottenAt(
  { cleanSince, level }: StrikeState,
  escalation: BanEscalation | null,
): number {
  if (escalation === null) return cleanSince;
  return cleanSince + Math.max(escalation.window, level * escalation.decay);
}

/**
 * The level at `now`: it drops by one for each whole `decay` since the last strike or the end of
 * the last ban.
 */
export function levelAt(
  state: StrikeState,
  escalation: BanEscalation,
  now: number,
): number {
  const cleanSpans = Math.max(
    0,
    Math.floor((now - state.cleanSince) / escalation.decay),
  );
  return Math.max(0, state.level - cleanSpans);
}

export function recentStrikes(
  state: StrikeState,
  escalation: BanEscalation,
  now: number,
): number[] {
  return state.strikes.filter((at) => at > now - escalation.window);
}
