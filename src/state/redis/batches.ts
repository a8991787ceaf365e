import type { Admission } from '../../limits/admission.ts';
import type { Limits } from '../../limits/limits.ts';
import type { Scopes } from '../../limits/scopes.ts';
import type { InDoubtCharges } from '../shared/backend.ts';
import { CountersError, startedBan } from '../state.ts';
import { ReplyReader, unexpectedReply } from './replies.ts';

/** Requests in one script call. A longer call would keep all others waiting for too long. */
const MAX_BATCH = 200;

interface Request {
  readonly subject: string;
  readonly limits: Limits;
  readonly cost: number;
  readonly scopes: Scopes;
  readonly resolve: (admission: Admission) => void;
  readonly reject: (error: unknown) => void;
}

/** The admission of each request, or why there is none. */
type Decisions = readonly (Admission | CountersError)[];

/** The requests that one script call decides, in their order. */
export class Batch {
  readonly requests: Request[] = [];
  /** The different limits among them, numbered from 1. Callers of one plan share theirs. */
  readonly sets = new Map<Limits, number>();

  /** One of the subjects: all are in one place. */
  get subject(): string {
    return this.requests[0]!.subject;
  }

  add(request: Request): void {
    this.requests.push(request);
    if (!this.sets.has(request.limits)) this.sets.set(request.limits, this.sets.size + 1);
  }

  /** What Redis answered, in the order of the requests. Throws WrongAnswer. */
  read(answer: unknown): Decisions {
    const reader = new ReplyReader(answer);
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

  /** Gives each request its admission, and `banned` the ends of bans. One whose Redis key is foreign fails alone. */
  settle(decisions: Decisions, banned: (subject: string, until: number) => void): void {
    for (const [i, { subject, resolve, reject }] of this.requests.entries()) {
      const admission = decisions[i]!;
      if (admission instanceof CountersError) {
        reject(unexpectedReply(subject, admission));
      } else {
        if (admission.verdict === 'banned') banned(subject, admission.bannedUntil);
        resolve(admission);
      }
    }
  }

  fail(error: unknown): void {
    for (const { reject } of this.requests) reject(error);
  }

  /** Nobody waits for the answer any more, but what Redis charged must not be charged again. */
  inDoubt(running: Promise<Decisions>, inDoubt: InDoubtCharges): void {
    for (const { subject } of this.requests) inDoubt.begin(subject);
    const end = (decisions: Decisions) => {
      for (const [i, { subject, limits, cost, scopes }] of this.requests.entries()) {
        const found = decisions[i];
        // Where the key is foreign, nothing was charged, and the request has failed already.
        const admission = found === undefined || found instanceof CountersError ? null : found;
        inDoubt.end(subject, admission?.verdict === 'admitted' ? cost : 0, scopes);
        const ban = admission && startedBan(subject, limits, admission);
        if (ban) inDoubt.banned(ban);
      }
    };
    running.then(end, () => end([]));
  }
}

/** Gathers the requests of one turn of the event loop into one call. */
export class Batches {
  readonly #apart: boolean;
  readonly #send: (batch: Batch) => void;
  #open = new Map<string, Batch>();

  /** With `apart`, only requests of one subject share a call. */
  constructor({ apart, send }: { apart: boolean; send: (batch: Batch) => void }) {
    this.#apart = apart;
    this.#send = send;
  }

  add(subject: string, limits: Limits, cost: number, scopes: Scopes): Promise<Admission> {
    // This runs after all sockets of the turn were read. A microtask would run after each of them.
    if (this.#open.size === 0) setImmediate(() => this.flush());
    return new Promise((resolve, reject) => {
      const name = this.#apart ? subject : '';
      const batch = this.#open.get(name) ?? this.#start(name);
      batch.add({ subject, limits, cost, scopes, resolve, reject });
      if (batch.requests.length < MAX_BATCH) return;
      this.#open.delete(name);
      this.#send(batch);
    });
  }

  flush(): void {
    const batches = this.#open;
    this.#open = new Map();
    for (const batch of batches.values()) this.#send(batch);
  }

  #start(name: string): Batch {
    const batch = new Batch();
    this.#open.set(name, batch);
    return batch;
  }
}
