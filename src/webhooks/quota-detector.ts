import { createCache } from '../common/cache.ts';
import { isShown, type Reading } from '../limits/admission.ts';
import { placeOf } from '../limits/kinds.ts';
import type { Window } from '../limits/limits.ts';
import { countsIn } from '../limits/scopes.ts';
import type { RequestEvent, RequestTrace } from '../observe/events.ts';
import { targetIn } from '../records/keys/subjects.ts';
import { timeOf, uniqueEvent, type WebhookEvent } from './event.ts';

const NOTIFY_AT = [80, 100] as const;
/** Requests above the limit are admitted. */
const WITH_OVERAGE = [...NOTIFY_AT, 120] as const;
const CACHED_WINDOWS = 10_000;

/**
 * Admission charges requests one after the other and returns what remains, so exactly one request
 * of all gateways reaches each threshold. Local decisions reach none. `shortest`: milliseconds.
 */
export function createQuotaDetector(
  shortest: number,
  report: (event: WebhookEvent) => void,
) {
  const last = createCache<number>(CACHED_WINDOWS);
  /**
   * Windows with requests that were decided locally: the place of the next reading of the state, at
   * first 0.
   */
  const unread = createCache<number>(CACHED_WINDOWS);

  /** What remains of a gateway's share does not show the use. */
  function skipLocal(
    { subject, scopes }: RequestTrace,
    readings: readonly Reading[],
  ) {
    for (const { window } of readings) {
      if (window.span >= shortest && countsIn(window, scopes))
        unread.set(`${subject} ${nameOf(window)}`, 0);
    }
  }

  /**
   * Whether the use may have increased without a reading, because local requests are charged later.
   */
  function isUnread(
    { subject, admission }: RequestTrace,
    { window, resetAt }: Reading,
  ) {
    if (unread.size === 0) return false;
    const name = `${subject} ${nameOf(window)}`;
    const since = unread.get(name);
    if (since === undefined) return false;
    const place = placeOf(window, resetAt, admission!.now);
    if (since === 0) unread.set(name, place);
    else if (since !== place) unread.delete(name);
    return since === 0 || since === place;
  }

  function readAdmitted(
    event: RequestEvent,
    trace: RequestTrace,
    readings: readonly Reading[],
  ) {
    for (const reading of readings) {
      const { window, used } = reading;
      // A window of another scope was read separately.
      if (
        window.span < shortest ||
        !countsIn(window, trace.scopes) ||
        !isShown(window)
      )
        continue;
      // The outbox ignores a threshold that was reported before.
      const before = isUnread(trace, reading) ? 0 : used - trace.cost;
      for (const percent of window.excess === 'overage'
        ? WITH_OVERAGE
        : NOTIFY_AT) {
        const threshold = window.limit * percent;
        if (used * 100 >= threshold && before * 100 < threshold)
          found(event, trace, reading, percent);
      }
    }
  }

  /** A request for more than remains has used up the quota, although some units remain. */
  function readLimited(
    event: RequestEvent,
    trace: RequestTrace,
    readings: readonly Reading[],
  ) {
    const { violated } = trace.admission!;
    if (violated === null || violated.span < shortest) return;
    const reading = readings.find(({ window }) => window === violated);
    if (reading === undefined || reading.used === 0) return;
    found(event, trace, reading, 100);
  }

  function found(
    event: RequestEvent,
    trace: RequestTrace,
    reading: Reading,
    percent: number,
  ) {
    const { account, plan } = event;
    const { subject } = trace;
    const { now } = trace.admission!;
    const { window, used, resetAt } = reading;
    const place = placeOf(window, resetAt, now);
    const name = `${subject} ${nameOf(window)} ${percent}`;
    if (last.get(name) === place) return;
    last.set(name, place);
    const { target, plan: planOfAccount } = targetIn(subject!);
    const identity = `${subject} ${nameOf(window)} ${place} ${percent}`;
    const data = {
      key: planOfAccount === null ? target : null,
      account,
      plan,
      window: window.name,
      scope: window.scope ?? null,
      limit: window.limit,
      used,
      percent,
      resets: timeOf(resetAt),
    };
    // A sliding window has no end: the event is valid for one span.
    report(
      uniqueEvent(
        'quota.reached',
        now,
        identity,
        Math.max(resetAt, place + window.span) + window.span,
        data,
      ),
    );
  }

  return (event: RequestEvent) => {
    const { verdict, trace, keyId } = event;
    // Without a key the subject is a client address, which receivers must not get.
    if (
      keyId === null ||
      trace === undefined ||
      trace.admission === null ||
      trace.subject === null
    )
      return;
    if (trace.admission.by === 'local')
      skipLocal(trace, trace.admission.readings);
    else if (verdict === 'admitted')
      readAdmitted(event, trace, trace.admission.readings);
    else if (verdict === 'limited')
      readLimited(event, trace, trace.admission.readings);
  };
}

/** Another limit is another quota. */
const nameOf = ({ kind, span, limit, scope = '' }: Window): string =>
  `${kind} ${span} ${limit} ${scope}`;
