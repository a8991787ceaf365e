import type { Admission } from '../../../limits/admission.ts';
import type { Limits } from '../../../limits/limits.ts';
import type { Reconciliation } from '../backend.ts';

export interface LastAdmission {
  readonly admission: Pick<Admission, 'now' | 'verdict' | 'readings' | 'retryAt' | 'bannedUntil'> &
    Partial<Pick<Admission, 'violated'>>;
  /** The remaining units are already this gateway's share and must not be divided again. */
  readonly divided: boolean;
}

export interface PendingReconciliation {
  readonly limits: Limits;
  readonly reconciliation: Reconciliation;
}

/** Data of a subject that survives a restart. */
export interface LastKnownEntry {
  readonly known: LastAdmission | null;
  /** Local admissions that the backend may lack, in sending order. */
  readonly dues: readonly PendingReconciliation[];
}

/** `kept` without data expired at `now`; `null`: nothing remains. */
export function withoutOutdated({ known, dues }: LastKnownEntry, now: number): LastKnownEntry | null {
  const left = known && isOutdated(known, now) ? null : known;
  const open = dues.map((due) => withoutExpired(due, now)).filter((due) => due !== null);
  return left === null && open.length === 0 ? null : { known: left, dues: open };
}

function isOutdated({ admission: { readings, retryAt, bannedUntil } }: LastAdmission, now: number): boolean {
  return readings.every(({ resetAt }) => resetAt <= now) && retryAt <= now && bannedUntil <= now;
}

/** Expired windows are not sent: the backend may have forgotten that it added them. */
function withoutExpired({ limits, reconciliation }: PendingReconciliation, now: number): PendingReconciliation | null {
  const windows = reconciliation.windows.map(({ units, openedAt }, i) => {
    const isPast = openedAt + limits.windows[i]!.span <= now;
    return { units: isPast ? 0 : units, openedAt };
  });
  const ban = reconciliation.ban && reconciliation.ban.until > now ? reconciliation.ban : null;
  if (ban === null && windows.every(({ units }) => units === 0)) return null;
  return { limits, reconciliation: { ...reconciliation, ban, windows } };
}
