import { isDeepStrictEqual } from 'node:util';
import type { KeyRecord } from '../../keys/key.ts';
import type { LastUseStore } from '../../keys/last-use-tracker.ts';
import type { AuditDraft } from '../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import { type Counters, eachWindow, noWait, staleAt } from '../../limits/counters.ts';
import { isSameCounter } from '../../limits/kinds.ts';
import type { Window } from '../../limits/limits.ts';
import { Fingerprints } from './fingerprints.ts';
import { counterLine } from './lines.ts';
import { type LastUse, type Outcome, type TargetOptions, TransferError } from './records.ts';

export const SOMETHING_ELSE =
  'The target must be empty or an earlier copy of the source, because two states are never merged: name an empty folder or Redis';

/**
 * The action for a key; `stored` has its id, `owners` share one of its secrets. Versions count
 * changes: an earlier copy has a lower version or the same record. Throws TransferError if the
 * target has another key.
 */
export function decideKey(
  given: KeyRecord,
  stored: KeyRecord | null,
  owners: readonly (KeyRecord | null)[],
): 'added' | 'changed' | 'same' {
  const other = owners.find((owner) => owner !== null && owner.id !== given.id);
  if (other)
    throw somethingElse(`a secret of key ${given.id} is that of key ${other.id} in the target`);
  if (stored === null) return 'added';
  if (stored.version < given.version) return 'changed';
  if (stored.version === given.version && isSameRecord(stored, given)) return 'same';
  throw somethingElse(`key ${given.id} was changed in the target`);
}

export function somethingElse(sentence: string): TransferError {
  return new TransferError(`${sentence}. ${SOMETHING_ELSE}`);
}

/** Field order may differ, but rarely does, and a text comparison takes a tenth of the time. */
function isSameRecord(one: KeyRecord, other: KeyRecord): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || isDeepStrictEqual(one, other);
}

/** The action for a token. Throws TransferError if another token has its name or secret. */
export function decideToken(given: TokenRecord, stored: readonly TokenRecord[]): 'added' | 'same' {
  const near = stored.filter(({ name, hash }) => name === given.name || hash === given.hash);
  if (near.length === 0) return 'added';
  if (
    near.every(
      ({ name, hash, role }) => name === given.name && hash === given.hash && role === given.role,
    )
  )
    return 'same';
  throw somethingElse(`token ${given.name} is another one in the target`);
}

/** Identifies an audit entry in another log, where its number may differ. */
export function entryPrint({ at, actor, action, target, requestId }: AuditDraft): string {
  return JSON.stringify([at, actor, action, target, requestId]);
}

/**
 * The action for counters, and what to write. Newer stored counters stay, so that no unit is
 * granted twice.
 */
export function decideCounters(
  given: Counters,
  stored: Counters | null,
  now: number,
): { readonly taken: Outcome; readonly write: Counters | null } {
  if (staleAt(given) <= now) return { taken: 'over', write: null };
  if (stored === null) return { taken: 'added', write: given };
  if (isAhead(stored, given)) return { taken: 'kept', write: null };
  // Strike state is never removed from counters in Redis.
  const left =
    given.strikeState === null && stored.strikeState
      ? { ...stored.strikeState, refused: noWait() }
      : null;
  const write = left ? { ...given, strikeState: left } : given;
  const isSame = JSON.stringify(counterLine(write)) === JSON.stringify(counterLine(stored));
  return isSame ? { taken: 'same', write: null } : { taken: 'changed', write };
}

/**
 * Whether `one` opened a window later or counted more. The first cell of each window is a time, the
 * others are units.
 */
function isAhead(one: Counters, other: Counters): boolean {
  return one.windows.some((window) => {
    const [mine, theirs] = [cellsOf(one, window)!, cellsOf(other, window)];
    if (theirs === null) return false;
    return mine[0] === theirs[0] ? units(mine) > units(theirs) : mine[0]! > theirs[0]!;
  });
}

function units([, ...counts]: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function cellsOf(counters: Counters, wanted: Window): number[] | null {
  let found: number[] | null = null;
  eachWindow(counters.windows, (window, at, { size }) => {
    if (isSameCounter(window, wanted)) found = counters.cells.slice(at, at + size);
  });
  return found;
}

/** Imports last uses into a store, which keeps the latest time. */
export async function takeUses(
  uses: LastUseStore,
  given: readonly LastUse[],
  { dryRun, clock }: Pick<TargetOptions, 'clock' | 'dryRun'>,
): Promise<Outcome[]> {
  const known = await uses.load(given.map(({ id }) => id));
  if (!dryRun) await uses.save(new Map(given.map(({ id, at }) => [id, at])), clock());
  return given.map(({ id, at }) => {
    const before = known.get(id);
    if (before === undefined) return 'added';
    return before === at ? 'same' : before > at ? 'kept' : 'changed';
  });
}

export class KnownEntries {
  readonly #prints = new Fingerprints();
  readonly #keep: number;
  #newest = 0;
  #count = 0;
  #added = 0;

  constructor(keep: number) {
    this.#keep = keep;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Oldest first. */
  note(entry: AuditDraft): void {
    this.#newest = entry.at;
    this.#count += 1;
    this.#prints.add(entryPrint(entry));
  }

  /**
   * The action for an entry. In a full log, an entry older than the newest one must not replace it.
   */
  decide(entry: AuditDraft): 'added' | 'same' | 'over' {
    if (this.#prints.has(entryPrint(entry))) return 'same';
    const isFull = this.#count > 0 && this.#count + this.#added >= this.#keep;
    if (isFull && entry.at <= this.#newest) return 'over';
    this.#added += 1;
    return 'added';
  }
}
