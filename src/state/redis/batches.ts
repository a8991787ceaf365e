import type { Admission } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Scopes } from '../../limits/scopes.ts';
import type { InDoubtCharges } from '../shared/remote-state.ts';
import { CountersError, startedBan } from '../state.ts';
import { ReplyReader, unexpectedReply } from './replies.ts';

/** A longer call would delay all other requests. */
const MAX_BATCH = 200;

interface Request {
  readonly subject: string;
  readonly limits: Limits;
  readonly cost: number;
  readonly scopes: Scopes;
  readonly resolve: (admission: Admission) => void;
  readonly reject: (error: unknown) => void;
}

type Decisions = readonly (Admission | CountersError)[];

export class Batch {
  readonly requests: Request[] = [];
  /** Numbered from 1. Clients of one plan share limits. */
  readonly sets = new Map<Limits, number>();

  /** All subjects are on one node. */
  get subject(): string {
    return this.requests[0]!.subject;
  }

  add(request: Request): void {
    this.requests.push(request);
    if (!this.sets.has(request.limits))
      this.sets.set(request.limits, this.sets.size + 1);
  }

  /** Throws UnexpectedReply. */
  read(reply: unknown): Decisions {
    const reader = new ReplyReader(reply);
    const decisions = this.requests.map(({ subject, limits }) => {
      try {
        return reader.admission(subject, limits);
      } catch (error) {
        if (error instanceof CountersError) return error;
        throw error;
      }
    });
    reader.end();
    return decisions;
  }

  /** If a Redis key holds other data, only its own request fails. */
  settle(
    decisions: Decisions,
    banned: (subject: string, until: number) => void,
  ): void {
    for (const [i, { subject, resolve, reject }] of this.requests.entries()) {
      const admission = decisions[i]!;
      if (admission instanceof CountersError) {
        reject(unexpectedReply(subject, admission));
      } else {
        if (admission.verdict === 'banned')
          banned(subject, admission.bannedUntil);
        resolve(admission);
      }
    }
  }

  fail(error: unknown): void {
    for (const { reject } of this.requests) reject(error);
  }

  /** Requests have timed out, but charges that Redis made must not be repeated. */
  inDoubt(running: Promise<Decisions>, inDoubt: InDoubtCharges): void {
    for (const { subject } of this.requests) inDoubt.begin(subject);
    const end = (decisions: Decisions) => {
      for (const [
        i,
        { subject, limits, cost, scopes },
      ] of this.requests.entries()) {
        const found = decisions[i];
        // A request whose key holds other data has already failed uncharged.
        const admission =
          found === undefined || found instanceof CountersError ? null : found;
        inDoubt.end(
          subject,
          admission?.verdict === 'admitted' ? cost : 0,
          scopes,
        );
        const ban = admission && startedBan(subject, limits, admission);
        if (ban) inDoubt.banned(ban);
      }
    };
    running.then(end, () => end([]));
  }
}

/** `apart`: one subject per call. */
export function createBatches(apart: boolean, send: (batch: Batch) => void) {
  let open = new Map<string, Batch>();

  function flush() {
    const batches = open;
    open = new Map();
    for (const batch of batches.values()) send(batch);
  }

  return {
    add(
      subject: string,
      limits: Limits,
      cost: number,
      scopes: Scopes,
    ): Promise<Admission> {
      // Runs after all sockets of this turn were read. A microtask would run after each socket.
      if (open.size === 0) setImmediate(flush);
      return new Promise((resolve, reject) => {
        const name = apart ? subject : '';
        let batch = open.get(name);
        if (!batch) {
          batch = new Batch();
          open.set(name, batch);
        }
        batch.add({ subject, limits, cost, scopes, resolve, reject });
        if (batch.requests.length < MAX_BATCH) return;
        open.delete(name);
        send(batch);
      });
    },
    flush,
  };
}
