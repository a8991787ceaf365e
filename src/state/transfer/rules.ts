import { isDeepStrictEqual } from 'node:util';
import type { KeyRecord } from '../../keys/key.ts';
import type { AuditDraft } from '../../keys/operators/audit-log.ts';
import type { TokenRecord } from '../../keys/operators/tokens.ts';
import type { Ledger } from '../../limits/ledger.ts';
import { staleAt } from '../../limits/ledger.ts';
import type { Ladder } from '../../limits/limits.ts';
import { mergeLedgers } from '../../limits/merge.ts';
import { Fingerprints } from './fingerprints.ts';
import { ledgerLine } from './lines.ts';
import type { Taken } from './port.ts';

/**
 * What to do with a key where `stored` has its id, and `owners` are the keys that have one of its secrets. The higher version
 * wins: versions count changes, so it has all that the lower one has.
 */
export function judgeKey(given: KeyRecord, stored: KeyRecord | null, owners: readonly (KeyRecord | null)[]): Taken {
  const other = owners.find((owner) => owner !== null && owner.id !== given.id);
  if (other) return { conflict: `key ${given.id} has a secret that here is that of key ${other.id}` };
  if (stored === null) return 'added';
  if (stored.version > given.version) return 'kept';
  if (stored.version < given.version) return 'changed';
  return isSameRecord(stored, given)
    ? 'same'
    : {
        conflict: `key ${given.id} differs from the key ${stored.id} that is here, and both say version ${given.version}`,
      };
}

/** Fields may stand in another order. Nearly always they do not, and texts are compared in a tenth of the time. */
function isSameRecord(one: KeyRecord, other: KeyRecord): boolean {
  return JSON.stringify(one) === JSON.stringify(other) || isDeepStrictEqual(one, other);
}

/** What to do with a token among those that are there. */
export function judgeToken(given: TokenRecord, stored: readonly TokenRecord[]): Taken {
  const same = stored.find(({ name }) => name === given.name);
  if (same) {
    return same.hash === given.hash && same.role === given.role
      ? 'same'
      : { conflict: `token ${given.name} is another one here, or has another role` };
  }
  const owner = stored.find(({ hash }) => hash === given.hash);
  return owner ? { conflict: `token ${given.name} is here called ${owner.name}` } : 'added';
}

/** What an audit entry says, to find it in another log. Its number may be another there. */
export function entryPrint({ at, actor, action, target, requestId }: AuditDraft): string {
  return JSON.stringify([at, actor, action, target, requestId]);
}

export interface JudgedLedger {
  readonly taken: Taken;
  /** What to write; `null`: nothing. */
  readonly write: Ledger | null;
}

/** What to do with a ledger where `stored` is there for its subject. */
export function judgeLedger(
  given: Ledger,
  stored: Ledger | null,
  { ladder, now }: { ladder: Ladder | null; now: number },
): JudgedLedger {
  if (staleAt(given, ladder) <= now) return { taken: 'over', write: null };
  if (stored === null) return { taken: 'added', write: given };
  if (isSameLedger(given, stored)) return { taken: 'same', write: null };
  const merged = mergeLedgers(stored, given);
  return isSameLedger(merged, stored) ? { taken: 'kept', write: null } : { taken: 'changed', write: merged };
}

function isSameLedger(one: Ledger, other: Ledger): boolean {
  return JSON.stringify(ledgerLine(one)) === JSON.stringify(ledgerLine(other));
}

export function isBanned({ conduct }: Ledger, now: number): boolean {
  return conduct !== null && conduct.bannedUntil > now;
}

/** The entries of a log that others are taken into. */
export class KnownEntries {
  readonly #prints = new Fingerprints();
  readonly #keep: number;
  #newest = 0;
  #count = 0;
  #added = 0;

  /** `keep`: how many entries the log keeps. */
  constructor(keep: number) {
    this.#keep = keep;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Notes an entry of the log, oldest first. */
  note(entry: AuditDraft): void {
    this.#newest = entry.at;
    this.#count += 1;
    this.#prints.add(entryPrint(entry));
  }

  /** What to do with an entry. Where there is no room left, one that is older than the newest here must not take its place. */
  judge(entry: AuditDraft): 'added' | 'same' | 'over' {
    if (this.#prints.has(entryPrint(entry))) return 'same';
    const isFull = this.#count > 0 && this.#count + this.#added >= this.#keep;
    if (isFull && entry.at <= this.#newest) return 'over';
    this.#added += 1;
    return 'added';
  }
}
