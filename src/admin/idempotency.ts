import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';
import type { IdempotentAnswer } from '../keys/operators/audit-log.ts';
import { AdminError } from './admin-error.ts';
import type { AdminAnswer, Call, Idempotent } from './call.ts';

/**
 * The stored response may hold a secret, so it is encrypted with a key derived from the Idempotency-Key, which is not
 * stored.
 */
export class IdempotentCall implements Idempotent {
  readonly name: string;
  readonly #question: string;
  readonly #key: Buffer;

  constructor({ operator, method, path, query, body }: Call, idempotencyKey: string) {
    this.name = digest([operator.name, idempotencyKey]);
    this.#question = digest([method, path, query, body?.toString('latin1') ?? '']);
    this.#key = Buffer.from(hkdfSync('sha256', idempotencyKey, this.name, 'answer', 32));
  }

  seal(answer: AdminAnswer): IdempotentAnswer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce);
    const sealed = Buffer.concat([
      nonce,
      cipher.update(JSON.stringify(answer), 'utf8'),
      cipher.final(),
      cipher.getAuthTag(),
    ]);
    return { name: this.name, question: this.#question, sealed: sealed.toString('base64') };
  }

  open(kept: IdempotentAnswer): AdminAnswer {
    if (kept.question !== this.#question) {
      throw new AdminError(
        'idempotency_key_reused',
        'Another call was made with this Idempotency-Key: take a new one.',
      );
    }
    const sealed = Buffer.from(kept.sealed, 'base64');
    const decipher = createDecipheriv('aes-256-gcm', this.#key, sealed.subarray(0, 12));
    decipher.setAuthTag(sealed.subarray(-16));
    const text = Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]).toString();
    const answer = JSON.parse(text) as AdminAnswer;
    return { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } };
  }
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url');
}
