import { KeyedMutex } from '../common/keyed-mutex.ts';
import { Outage } from '../errors/outage.ts';
import { type AuditDraft, type AuditLog, failedEntry } from '../keys/operators/audit-log.ts';

/** Milliseconds. */
const RETRY = 1_000;

/** Retried while the log is unreachable. */
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
   * Retracts `entry` and deletes the response named `answer`, so that the call can be repeated. Throws errors other
   * than an outage; retries later in either case.
   */
  async add(entry: AuditDraft | null, answer: string | null): Promise<void> {
    if (entry) this.#waiting.push(async () => this.#auditLog.append({ entry: failedEntry(entry), idempotent: null }));
    if (answer !== null) this.#waiting.push(async () => this.#auditLog.forget(answer));
    await this.#tryNow();
  }

  /** Writes what is pending. Throws on failure: then no other change may be logged either. */
  async settle(): Promise<void> {
    if (this.#waiting.length === 0) return;
    await this.#turns.take('all', async () => {
      for (let next = this.#waiting[0]; next; next = this.#waiting[0]) {
        await next();
        this.#waiting.shift();
      }
    });
  }

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
      // The client has already received the error of its change.
      this.settle().catch(() => this.#tryLater());
    }, RETRY).unref();
  }
}
