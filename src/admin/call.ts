import {
  createCipheriv,
  createDecipheriv,
  createHash,
  hkdfSync,
  randomBytes,
} from 'node:crypto';
import type {
  BodyOf,
  OperationId,
  Operations,
  ResponseOf,
} from '@storegate/admin-api';
import { Outage } from '../common/errors/outage.ts';
import type { MaybePromise } from '../common/maybe-promise.ts';
import type { IdempotentResult } from '../records/operators/audit-log.ts';
import type { Operator } from '../records/operators/tokens.ts';
import { CountersError } from '../state/state.ts';
import { AdminError } from './admin-error.ts';
import { time } from './view.ts';

export interface Call {
  readonly id: string;
  readonly operator: Operator;
  /** In capitals. */
  readonly method: string;
  /** Percent-encoded. */
  readonly path: string;
  /** Raw, without the question mark. */
  readonly query: string;
  /** Raw: name, value, name, value, … */
  readonly headers: readonly string[];
  readonly body: Buffer | null;
}

export interface AdminResponse {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of the body. */
  readonly stream?: ResponseStream;
}

/** In place of a body from a handler. */
export class Streamed {
  readonly parts: Pick<AdminResponse, 'stream' | 'headers'>;

  constructor(parts: Streamed['parts']) {
    this.parts = parts;
  }
}

/** A body that is made while it is sent. */
export interface ResponseStream {
  readonly type: string;
  readonly text: AsyncIterable<string>;
}

/** A call of the operation `Id`, validated against the contract. */
export interface Task<Id extends OperationId = OperationId> {
  /** Unix milliseconds. */
  readonly now: number;
  readonly actor: string;
  readonly requestId: string;
  /** For the audit log. */
  readonly reason: string | null;
  /** `null`: the call may be made twice. */
  readonly idempotent: IdempotentCall | null;
  /** Decoded. */
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  /** Without fields if the call had no body. */
  readonly body: BodyOf<Id>;
}

type AdminOperation<Id extends OperationId> = (
  task: Task<Id>,
) => Promise<ResponseOf<Id> | Streamed>;

export type AdminOperations = {
  readonly [Id in OperationId]: AdminOperation<Id>;
};

/** During an outage of the state returns the local copy with its time. */
export async function orLastKnown<
  K extends { readonly asOf: number },
  Body extends object,
>(
  ask: () => Promise<Body>,
  fallback: (() => MaybePromise<K | null>) | undefined,
  show: (fallback: K) => Promise<Body>,
): Promise<Body & { readonly asOf?: string }> {
  try {
    return await ask();
  } catch (error) {
    const isDown =
      error instanceof Outage && !(error.cause instanceof CountersError);
    const last = (isDown && (await fallback?.())) || null;
    if (last === null) throw error;
    return { ...(await show(last)), asOf: time(last.asOf) };
  }
}

/**
 * The stored response may hold a secret, so it is encrypted with a key derived from the
 * Idempotency-Key, which is not stored.
 */
export class IdempotentCall {
  readonly name: string;
  readonly #question: string;
  readonly #key: Buffer;
  readonly #status: number;
  /** Whether the response is that of an earlier call. */
  isReplayed = false;

  constructor(
    { operator, method, path, query, body }: Call,
    idempotencyKey: string,
    status: number,
  ) {
    this.#status = status;
    this.name = digest([operator.name, idempotencyKey]);
    this.#question = digest([
      method,
      path,
      query,
      body?.toString('latin1') ?? '',
    ]);
    this.#key = Buffer.from(
      hkdfSync('sha256', idempotencyKey, this.name, 'result', 32),
    );
  }

  seal(body: unknown): IdempotentResult {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const text = cipher.update(
      JSON.stringify({ status: this.#status, body }),
      'utf8',
    );
    const sealed = Buffer.concat([
      nonce,
      text,
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return {
      name: this.name,
      question: this.#question,
      sealed: sealed.toString('base64'),
    };
  }

  /** Returns the body. Throws AdminError if the response belongs to another call. */
  open(kept: IdempotentResult): unknown {
    if (kept.question !== this.#question) {
      const message =
        'Another call was made with this Idempotency-Key: take a new one.';
      throw new AdminError('idempotency_key_reused', message);
    }
    const sealed = Buffer.from(kept.sealed, 'base64');
    const decipher = createDecipheriv(
      'aes-256-gcm',
      this.#key,
      sealed.subarray(0, 12),
    );
    decipher.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([
      decipher.update(sealed.subarray(12, -16)),
      decipher.final(),
    ]).toString();
    this.isReplayed = true;
    return (JSON.parse(text) as AdminResponse).body;
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
