import { type Admission, admit, look } from '../../limits/admission.ts';
import { ban, rungAt } from '../../limits/ladder.ts';
import {
  adoptWindows,
  type Conduct,
  eachWindow,
  type Ledger,
  newConduct,
  newLedger,
  staleAt,
} from '../../limits/ledger.ts';
import type { Ladder, Limits } from '../../limits/limits.ts';
import type { Ban, State } from '../state.ts';
import { Forgetting } from './forgetting.ts';

/** Milliseconds between two rounds of forgetting. A subject is forgotten at most so much too late. */
const GRAIN = 1_000;
/** How many subjects are looked at before other work gets its turn. */
const BATCH = 500;

/** Keeps ledgers while no process has them. */
export interface LedgerStore {
  load(): Iterable<readonly [subject: string, ledger: Ledger]>;
  save(ledgers: Iterable<readonly [subject: string, ledger: Ledger]>): void;
}

export interface EmbeddedStateOptions {
  /** Unix milliseconds. */
  readonly clock?: () => number;
  /** Read at the start, written at `close`; `null`: counters end with the process. */
  readonly store?: LedgerStore | null;
}

/** The embedded state: one map in one process. Every step is atomic, because nothing in it waits. */
export class EmbeddedState implements State {
  readonly #clock: () => number;
  readonly #store: LedgerStore | null;
  readonly #ledgers = new Map<string, Ledger>();
  readonly #forgetting = new Forgetting(GRAIN);
  readonly #timer: NodeJS.Timeout;
  /** The ladder that was last used. All plans of a configuration share one. */
  #ladder: Ladder | null = null;
  #closed = false;

  constructor({ clock = Date.now, store = null }: EmbeddedStateOptions = {}) {
    this.#clock = clock;
    this.#store = store;
    for (const [subject, ledger] of store?.load() ?? []) this.#keep(subject, ledger);
    this.#timer = setInterval(() => this.#forgetInTurns(), GRAIN).unref();
  }

  /** How many subjects are remembered. */
  get size(): number {
    return this.#ledgers.size;
  }

  admit(subject: string, limits: Limits, cost: number): Admission {
    this.#ladder = limits.ladder;
    return admit(this.#ledgerOf(subject, limits), limits, cost, this.#clock());
  }

  look(subject: string, limits: Limits): Admission {
    return look(this.#ledgers.get(subject) ?? newLedger(limits.windows), limits, this.#clock());
  }

  pardon(subject: string): void {
    const ledger = this.#ledgers.get(subject);
    if (ledger) ledger.conduct = null;
  }

  reset(subject: string): void {
    const ledger = this.#ledgers.get(subject);
    if (!ledger) return;
    ledger.cells.fill(0);
    if (ledger.conduct) ledger.conduct.refusedUntil = 0;
  }

  grant(subject: string, limits: Limits, units: number, name: string | null): void {
    const ledger = this.#ledgers.get(subject);
    if (!ledger) return;
    const now = this.#clock();
    adoptWindows(ledger, limits.windows);
    eachWindow(limits.windows, (window, at, meter) => {
      if (name === null || window.name === name) meter.refund(ledger.cells, at, window, units, now);
    });
    if (ledger.conduct) ledger.conduct.refusedUntil = 0;
  }

  bans(): Ban[] {
    const now = this.#clock();
    const banned: Ban[] = [];
    for (const [subject, { conduct }] of this.#ledgers) {
      if (conduct && conduct.bannedUntil > now) banned.push(banOf(subject, conduct));
    }
    return banned;
  }

  rung(subject: string, { ladder }: Limits): number {
    const conduct = this.#ledgers.get(subject)?.conduct;
    return conduct && ladder ? rungAt(conduct, ladder, this.#clock()) : 0;
  }

  ban(subject: string, limits: Limits, length: number): void {
    const now = this.#clock();
    const ledger = this.#ledgerOf(subject, limits);
    adoptWindows(ledger, limits.windows);
    ledger.conduct ??= newConduct();
    if (limits.ladder) ledger.conduct.rung = rungAt(ledger.conduct, limits.ladder, now);
    ban(ledger.conduct, length, null, now);
  }

  /** Drops up to `most` subjects whose ledger says nothing any more. Answers whether more are due. */
  forget(most: number): boolean {
    const now = this.#clock();
    const due = this.#forgetting.due(now, most);
    for (const subject of due) {
      const ledger = this.#ledgers.get(subject);
      if (!ledger) continue;
      const stale = staleAt(ledger, this.#ladder);
      if (stale <= now) this.#ledgers.delete(subject);
      else this.#forgetting.remind(subject, stale);
    }
    return due.length === most;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearInterval(this.#timer);
    this.#store?.save(this.#ledgers);
    this.#ledgers.clear();
  }

  #ledgerOf(subject: string, limits: Limits): Ledger {
    const known = this.#ledgers.get(subject);
    if (known) return known;
    const ledger = newLedger(limits.windows);
    this.#keep(subject, ledger, this.#clock() + limits.windows.at(-1)!.span);
    return ledger;
  }

  #keep(subject: string, ledger: Ledger, lookAgainAt = 0): void {
    this.#ledgers.set(subject, ledger);
    this.#forgetting.remind(subject, lookAgainAt);
  }

  #forgetInTurns(): void {
    if (!this.#closed && this.forget(BATCH)) setImmediate(() => this.#forgetInTurns());
  }
}

function banOf(subject: string, { bannedUntil, bannedSince, bannedFor, rung }: Conduct): Ban {
  const limit = bannedFor && { kind: bannedFor.kind, limit: bannedFor.limit, span: bannedFor.span };
  return { subject, until: bannedUntil, since: bannedSince || null, limit, rung };
}
