import { KeyedMutex } from '../common/keyed-mutex.ts';
import { Outage } from '../errors/outage.ts';
import { type AuditDraft, type AuditLog, failedEntry } from '../keys/operators/audit-log.ts';

/** Milliseconds between attempts to reach the audit log. */
const RETRY = 1_000;

/**
 * What the audit log must still hear of changes that were told and then could not be made. Mostly it hears at once; when
 * the log is out of reach too, a correction is tried again until it is written.
 */
export class AuditRetractions {
  readonly #auditLog: AuditLog;
  readonly #turns = new KeyedMutex();
  readonly #waiting: (() => Promise<void>)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(auditLog: AuditLog) {
    this.#auditLog = auditLog;
  }

  /**
   * Writes an entry that takes back `entry`, and forgets the answer named `answer`, so that the call can be repeated. Throws
   * what keeps it from doing so now, unless that is an outage; in either case it tries again later.
   */
  async add(entry: AuditDraft | null, answer: string | null): Promise<void> {
    if (entry) this.#waiting.push(async () => this.#auditLog.append({ entry: failedEntry(entry), idempotent: null }));
    if (answer !== null) this.#waiting.push(async () => this.#auditLog.forget(answer));
    await this.#tryNow();
  }

  /** Writes what is waiting. Throws when it cannot: then no other change may be told either. */
  async settle(): Promise<void> {
    if (this.#waiting.length === 0) return;
    await this.#turns.take('all', async () => {
      for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
        await next();
        this.#waiting.shift();
      }
    });
  }

  /** Tries for the last time. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#tryNow();
  }

  async #tryNow(): Promise<void> {
    try {
      await this.settle();
    } catch (error) {
      this.#tryLater();
      if (!(error instanceof Outage)) throw error;
    }
  }

  #tryLater(): void {
    if (this.#closed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      // Whoever made the change was told why it failed.
      this.settle().catch(() => this.#tryLater());
    }, RETRY).unref();
  }
}
