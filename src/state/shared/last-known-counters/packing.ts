import { isDeepStrictEqual } from 'node:util';
import type { BanEscalation, Window } from '../../../limits/limits.ts';
import type { Packer } from '../../journal/compactor.ts';
import { JournalError } from '../../journal/format.ts';
import type { Reconciliation } from '../backend.ts';
import type { LastAdmission, LastKnownEntry, PendingReconciliation } from './entries.ts';

/** Payload format: JSON in which windows appear once and are referenced by index. */
const FORMAT = 1;

interface Payload {
  readonly format: number;
  readonly windows: readonly Window[];
  readonly entries: readonly PackedEntry[];
}

type PackedEntry = readonly [subject: string, known: PackedKnown | null, dues: readonly PackedDue[]];
type PackedKnown = readonly [
  now: number,
  divided: boolean,
  verdict: LastAdmission['admission']['verdict'],
  retryAt: number,
  bannedUntil: number,
  readings: readonly (readonly [window: number, remaining: number, resetAt: number])[],
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
    const entry: PackedEntry = [subject, known && this.#known(known), dues.map((due) => this.#due(due))];
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
    const { now, verdict, retryAt, bannedUntil, readings, violated } = admission;
    const packed = readings.map(({ window, remaining, resetAt }) => [this.#place(window), remaining, resetAt] as const);
    const all = [now, divided, verdict, retryAt, bannedUntil, packed] as const;
    return violated?.scope === undefined ? all : [...all, this.#place(violated)];
  }

  #due({ limits: { windows, escalation }, reconciliation }: PendingReconciliation): PackedDue {
    return [windows.map((window) => this.#place(window)), escalation, reconciliation];
  }

  #place(window: Window): number {
    const known = this.#windows.get(window);
    if (known !== undefined) return known;
    const place = this.#windows.size;
    this.#windows.set(window, place);
    return place;
  }
}

/** Calls `each` with the entries of a payload of `file`. Throws JournalError if another version wrote it. */
export function unpackLastKnown(
  payload: Buffer,
  file: string,
  each: (subject: string, kept: LastKnownEntry) => void,
): void {
  const { format, windows, entries } = JSON.parse(payload.toString()) as Payload;
  if (format !== FORMAT)
    throw new JournalError(`${file} was written by another storegate (last-known counters ${format})`);
  for (const [subject, known, dues] of entries)
    each(subject, {
      known: known && knownIn(known, windows),
      dues: dues.map(([places, escalation, reconciliation]) => {
        const own = places.map((place) => windows[place]!);
        return { limits: { windows: own, escalation }, reconciliation: withLimitOf(own, reconciliation) };
      }),
    });
}

/** The limit of a ban must be the same object as in `windows`. */
function withLimitOf(windows: readonly Window[], reconciliation: Reconciliation): Reconciliation {
  const { ban } = reconciliation;
  if (!ban?.limit) return reconciliation;
  const limit = windows.find((window) => isDeepStrictEqual(window, ban.limit)) ?? ban.limit;
  return { ...reconciliation, ban: { ...ban, limit } };
}

function knownIn(
  [now, divided, verdict, retryAt, bannedUntil, packed, place]: PackedKnown,
  windows: readonly Window[],
): LastAdmission {
  const readings = packed.map(([place, remaining, resetAt]) => ({ window: windows[place]!, remaining, resetAt }));
  const violated = place === undefined ? {} : { violated: windows[place]! };
  return { admission: { now, verdict, readings, retryAt, bannedUntil, ...violated }, divided };
}
