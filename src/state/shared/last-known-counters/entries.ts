import type { Admission } from '../../../limits/admission.ts';
import type { Limits } from '../../../limits/limits.ts';
import type { CurrentEntries } from '../../journal/compactor.ts';
import type { Reconciliation } from '../backend.ts';

/** How a subject stood last. */
export interface LastAdmission {
  readonly admission: Pick<Admission, 'now' | 'verdict' | 'readings' | 'retryAt' | 'bannedUntil'> &
    Partial<Pick<Admission, 'violated'>>;
  /** What is left in it is already this gateway's share, and must not be divided again. */
  readonly divided: boolean;
}

/** What the backend must add for a subject. */
export interface PendingReconciliation {
  readonly limits: Limits;
  readonly reconciliation: Reconciliation;
}

/** What a gateway keeps of a subject across a restart. */
export interface LastKnownEntry {
  readonly known: LastAdmission | null;
  /** What it admitted alone and the backend may not have yet, in the order in which it is to be sent. */
  readonly dues: readonly PendingReconciliation[];
}

/** Keeps standings while no process has them. */
export interface LastKnownCounters {
  /** What was kept, to be called once. Then `begin` says where the standings are that are to be kept from now on. */
  load(): Iterable<readonly [subject: string, kept: LastKnownEntry]>;
  begin(living: CurrentEntries<LastKnownEntry>): void;
  /** It has changed, and is to be written soon. Called for every request. */
  mark(subject: string): void;
  /** Writes what is left, as far as that can be. */
  close(): Promise<void>;
}

/** `kept` without what has passed at `now`; `null`: nothing is left. */
export function withoutOutdated({ known, dues }: LastKnownEntry, now: number): LastKnownEntry | null {
  const left = known && isOutdated(known, now) ? null : known;
  const open = dues.map((due) => withoutExpired(due, now)).filter((due) => due !== null);
  return left === null && open.length === 0 ? null : { known: left, dues: open };
}

function isOutdated({ admission: { readings, retryAt, bannedUntil } }: LastAdmission, now: number): boolean {
  return readings.every(({ resetAt }) => resetAt <= now) && retryAt <= now && bannedUntil <= now;
}

/** Windows that are over ask for nothing any more: the backend may have forgotten that it has added them. */
function withoutExpired({ limits, reconciliation }: PendingReconciliation, now: number): PendingReconciliation | null {
  const windows = reconciliation.windows.map(({ units, openedAt }, i) => {
    const isPast = openedAt + limits.windows[i]!.span <= now;
    return { units: isPast ? 0 : units, openedAt };
  });
  const ban = reconciliation.ban && reconciliation.ban.until > now ? reconciliation.ban : null;
  if (ban === null && windows.every(({ units }) => units === 0)) return null;
  return { limits, reconciliation: { ...reconciliation, ban, windows } };
}
