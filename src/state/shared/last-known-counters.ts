import { isDeepStrictEqual } from 'node:util';
import type { Admission } from '../../limits/admission.ts';
import { meterOf } from '../../limits/kinds.ts';
import type { BanEscalation, Limits, Window } from '../../limits/limits.ts';
import {
  type Compactor,
  type CurrentEntries,
  createCompactor,
  type Packer,
} from '../journal/compactor.ts';
import { JournalError } from '../journal/format.ts';
import { openSlot } from '../journal/slot.ts';
import type { Reconciliation } from './remote-state.ts';

/** Slots per worker in one folder, including those of ending processes. */
const MAX_SLOTS = 4;

/** Payload format: JSON in which windows appear once and are referenced by index. */
const FORMAT = 2;

export interface LastAdmission {
  readonly admission: Pick<
    Admission,
    'now' | 'verdict' | 'readings' | 'retryAt' | 'bannedUntil'
  > &
    Partial<Pick<Admission, 'violated'>>;
  /** The units that fit are already this gateway's share and must not be divided again. */
  readonly divided: boolean;
}

export interface PendingReconciliation {
  readonly limits: Limits;
  readonly reconciliation: Reconciliation;
}

/** Data of a subject that survives a restart. */
export interface LastKnownEntry {
  readonly known: LastAdmission | null;
  /** Local admissions that Redis may lack, in sending order. */
  readonly dues: readonly PendingReconciliation[];
}

interface LastKnownCountersOptions {
  readonly folder: string;
  /** From 1; and the number of workers. */
  readonly worker: number;
  readonly workers: number;
  /** Called with errors; the gateway continues without the files. */
  readonly failed: (error: unknown) => void;
}

export type LastKnownCounters = NonNullable<
  ReturnType<typeof lastKnownCountersIn>
>;

/** Last-known counters in files of this process; `null`: no free slot. */
export function lastKnownCountersIn(
  options: LastKnownCountersOptions,
  now = Date.now(),
) {
  const { folder, worker, workers, failed } = options;
  // An ending process may still hold this worker's slot.
  const numbers = { first: worker, step: workers, most: MAX_SLOTS * workers };
  const slot = openSlot({ folder, kind: 'last-known', numbers, failed }, () => {
    const loaded = new Map<string, LastKnownEntry>();
    const note = (subject: string, entry: LastKnownEntry) =>
      void loaded.set(subject, entry);
    return {
      loaded,
      batch: (payload: Buffer, file: string) =>
        unpackLastKnown(payload, file, note),
    };
  });
  if (!slot) return null;
  let compactor: Compactor<LastKnownEntry> | null = null;
  const { loaded } = slot.reader;
  return {
    /** The stored entries; call it once. Then `begin` sets the source of the entries to store. */
    *load(): Iterable<readonly [subject: string, kept: LastKnownEntry]> {
      for (const [subject, entry] of loaded) {
        const left = withoutOutdated(entry, now);
        if (left) yield [subject, left] as const;
      }
      loaded.clear();
    },
    begin: (living: CurrentEntries<LastKnownEntry>) => {
      compactor = createCompactor(slot.journal, living, new LastKnownPacker());
    },
    /** Called for every request. */
    mark: (subject: string) => compactor?.mark(subject),
    close: () => slot.close(compactor),
  };
}

/** `kept` without data expired at `now`; `null`: nothing remains. */
export function withoutOutdated(
  { known, dues }: LastKnownEntry,
  now: number,
): LastKnownEntry | null {
  const left = known && isOutdated(known, now) ? null : known;
  const open = dues
    .map((due) => withoutExpired(due, now))
    .filter((due) => due !== null);
  return left === null && open.length === 0
    ? null
    : { known: left, dues: open };
}

function isOutdated(
  { admission: { readings, retryAt, bannedUntil } }: LastAdmission,
  now: number,
): boolean {
  return (
    readings.every(({ resetAt }) => resetAt <= now) &&
    retryAt <= now &&
    bannedUntil <= now
  );
}

/** Expired windows are not sent: Redis may have forgotten that it added them. */
function withoutExpired(
  { limits, reconciliation }: PendingReconciliation,
  now: number,
): PendingReconciliation | null {
  const windows = reconciliation.windows.map(({ units, openedAt }, i) => {
    const window = limits.windows[i]!;
    const isPast = meterOf(window).endFrom(window, openedAt) <= now;
    return { units: isPast ? 0 : units, openedAt };
  });
  const ban =
    reconciliation.ban && reconciliation.ban.until > now
      ? reconciliation.ban
      : null;
  if (ban === null && windows.every(({ units }) => units === 0)) return null;
  return { limits, reconciliation: { ...reconciliation, ban, windows } };
}

type Payload = Readonly<{
  format: number;
  windows: readonly Window[];
  entries: readonly PackedEntry[];
}>;
type PackedEntry = readonly [
  subject: string,
  known: PackedKnown | null,
  dues: readonly PackedDue[],
];
type PackedKnown = readonly [
  now: number,
  divided: boolean,
  verdict: LastAdmission['admission']['verdict'],
  retryAt: number,
  bannedUntil: number,
  readings: readonly (readonly [
    window: number,
    used: number,
    resetAt: number,
  ])[],
  /** The limit that refused, if it has a scope. */
  violated?: number,
];
type PackedDue = readonly [
  windows: readonly number[],
  escalation: BanEscalation | null,
  reconciliation: Reconciliation,
];

export class LastKnownPacker implements Packer<LastKnownEntry> {
  #entries: string[] = [];
  #size = 0;
  readonly #windows = new Map<Window, number>();

  get size(): number {
    return this.#size;
  }

  add(subject: string, { known, dues }: LastKnownEntry): void {
    const packed = dues.map(
      ({ limits: { windows, escalation }, reconciliation }): PackedDue => {
        return [
          windows.map((window) => this.#place(window)),
          escalation,
          reconciliation,
        ];
      },
    );
    const entry: PackedEntry = [subject, known && this.#known(known), packed];
    const text = JSON.stringify(entry);
    this.#entries.push(text);
    this.#size += text.length + 1;
  }

  take(): Buffer {
    const windows = JSON.stringify([...this.#windows.keys()]);
    const text = `{"format":${FORMAT},"windows":${windows},"entries":[${this.#entries.join(',')}]}`;
    this.#entries = [];
    this.#size = 0;
    this.#windows.clear();
    return Buffer.from(text);
  }

  #known({ admission, divided }: LastAdmission): PackedKnown {
    const { now, verdict, retryAt, bannedUntil, readings, violated } =
      admission;
    const packed = readings.map(
      ({ window, used, resetAt }) =>
        [this.#place(window), used, resetAt] as const,
    );
    const all = [now, divided, verdict, retryAt, bannedUntil, packed] as const;
    return violated?.scope === undefined
      ? all
      : [...all, this.#place(violated)];
  }

  #place(window: Window): number {
    const known = this.#windows.get(window);
    if (known !== undefined) return known;
    const place = this.#windows.size;
    this.#windows.set(window, place);
    return place;
  }
}

/**
 * Calls `each` with the entries of a payload of `file`. Throws JournalError if another version
 * wrote it.
 */
export function unpackLastKnown(
  payload: Buffer,
  file: string,
  each: (subject: string, kept: LastKnownEntry) => void,
) {
  const { format, windows, entries } = JSON.parse(
    payload.toString(),
  ) as Payload;
  if (format !== FORMAT)
    throw new JournalError(
      `${file} was written by another storegate (last-known counters ${format})`,
    );
  for (const [subject, known, dues] of entries)
    each(subject, {
      known: known && knownIn(known, windows),
      dues: dues.map(([places, escalation, reconciliation]) => {
        const own = places.map((place) => windows[place]!);
        return {
          limits: { windows: own, escalation },
          reconciliation: withLimitOf(own, reconciliation),
        };
      }),
    });
}

/** The limit of a ban must be the same object as in `windows`. */
function withLimitOf(
  windows: readonly Window[],
  reconciliation: Reconciliation,
): Reconciliation {
  const { ban } = reconciliation;
  if (!ban?.limit) return reconciliation;
  const limit =
    windows.find((window) => isDeepStrictEqual(window, ban.limit)) ?? ban.limit;
  return { ...reconciliation, ban: { ...ban, limit } };
}

function knownIn(
  [now, divided, verdict, retryAt, bannedUntil, packed, place]: PackedKnown,
  windows: readonly Window[],
): LastAdmission {
  const readings = packed.map(([place, used, resetAt]) => ({
    window: windows[place]!,
    used,
    resetAt,
  }));
  const violated = place === undefined ? {} : { violated: windows[place]! };
  return {
    admission: { now, verdict, readings, retryAt, bannedUntil, ...violated },
    divided,
  };
}
