import { isDeepStrictEqual } from 'node:util';
import type { Admission } from '../../limits/admission.ts';
import { meterOf } from '../../limits/kinds.ts';
import type { BanEscalation, Limits, Window } from '../../limits/limits.ts';
import { openRowFile, rowsIn } from '../rows/row-file.ts';
import { RowWriteError, type RowWriter } from '../rows/row-writer.ts';
import { createRows, type Rows } from '../rows/rows.ts';
import { takeSlot } from '../rows/slots.ts';
import type { Reconciliation } from './remote-state.ts';

/** Slots per worker in one folder, including those of ending processes. */
const MAX_SLOTS = 4;

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
  readonly writer: RowWriter;
  /** From 1; and the number of workers. */
  readonly worker: number;
  readonly workers: number;
  /** Called with errors; the gateway continues without the rows. */
  readonly failed: (error: unknown) => void;
}

export type LastKnownCounters = NonNullable<
  ReturnType<typeof lastKnownCountersIn>
>;

/** Last-known counters in rows of this process; `null`: they cannot be kept. */
export function lastKnownCountersIn(
  options: LastKnownCountersOptions,
  now = Date.now(),
) {
  const { folder, writer, failed } = options;
  let opened: ReturnType<typeof openIn>;
  try {
    opened = openIn(options);
  } catch (error) {
    failed(error);
    return null;
  }
  const { slot, loaded } = opened;
  let rows: Rows | null = null;
  return {
    /** The stored entries; call it once. Then `begin` sets where entries are read. */
    *load(): Iterable<readonly [subject: string, kept: LastKnownEntry]> {
      for (const [subject, entry] of loaded) {
        const current = withoutOutdated(entry, now);
        if (current) yield [subject, current] as const;
      }
    },
    begin(read: (subject: string) => LastKnownEntry | undefined) {
      const source = { read, rowOf: packLastKnown };
      rows = createRows(writer, slot.kind, source, { unsaved: failed });
      for (const subject of loaded.keys())
        if (read(subject) === undefined) rows.mark(subject);
      loaded.clear();
    },
    /** Called for every request. */
    mark: (subject: string) => rows?.mark(subject),
    async close() {
      try {
        await rows?.close();
      } catch (error) {
        // It was reported.
        if (!(error instanceof RowWriteError)) throw error;
      } finally {
        slot.release();
      }
    },
  };

  function openIn({ worker, workers }: LastKnownCountersOptions) {
    // An ending process may still hold this worker's slot.
    const most = MAX_SLOTS * workers;
    const numbers = { first: worker, step: workers, most };
    const slot = takeSlot(folder, 'last-known', numbers);
    try {
      return { slot, loaded: readAll(slot.kind) };
    } catch (error) {
      slot.release();
      throw error;
    }
  }

  function readAll(kind: string) {
    const file = openRowFile(folder);
    try {
      const loaded = new Map<string, LastKnownEntry>();
      for (const [subject, text] of rowsIn(file, kind)) {
        const entry = lastKnownIn(String(text));
        if (entry) loaded.set(subject, entry);
        else failed(new Error(`the row ${kind} of ${subject} is damaged`));
      }
      return loaded;
    } finally {
      file.close();
    }
  }
}

/** `kept` without data expired at `now`; `null`: nothing remains. */
export function withoutOutdated(
  { known: admission, dues }: LastKnownEntry,
  now: number,
): LastKnownEntry | null {
  const current = admission && isOutdated(admission, now) ? null : admission;
  const open = dues
    .map((due) => withoutExpired(due, now))
    .filter((due) => due !== null);
  return current === null && open.length === 0
    ? null
    : { known: current, dues: open };
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

/** JSON in which windows appear once and are referenced by index. */
type PackedEntry = readonly [
  windows: readonly Window[],
  admission: PackedKnown | null,
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

export function packLastKnown({
  known: admission,
  dues,
}: LastKnownEntry): string {
  const windows: Window[] = [];
  const place = (window: Window) => {
    const at = windows.indexOf(window);
    return at < 0 ? windows.push(window) - 1 : at;
  };
  const packed = dues.map(
    ({ limits: { windows, escalation }, reconciliation }): PackedDue => [
      windows.map(place),
      escalation,
      reconciliation,
    ],
  );
  const entry: PackedEntry = [
    windows,
    admission && packKnown(admission, place),
    packed,
  ];
  return JSON.stringify(entry);
}

function packKnown(
  { admission, divided }: LastAdmission,
  place: (window: Window) => number,
): PackedKnown {
  const { now, verdict, retryAt, bannedUntil, readings, violated } = admission;
  const packed = readings.map(
    ({ window, used, resetAt }) => [place(window), used, resetAt] as const,
  );
  const all = [now, divided, verdict, retryAt, bannedUntil, packed] as const;
  return violated?.scope === undefined ? all : [...all, place(violated)];
}

/** `null`: it is damaged. */
export function lastKnownIn(text: string): LastKnownEntry | null {
  try {
    const [windows, admission, dues] = JSON.parse(text) as PackedEntry;
    return {
      known: admission && knownIn(admission, windows),
      dues: dues.map(([places, escalation, reconciliation]) => {
        const own = places.map((place) => windows[place]!);
        return {
          limits: { windows: own, escalation },
          reconciliation: withLimitOf(own, reconciliation),
        };
      }),
    };
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
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
