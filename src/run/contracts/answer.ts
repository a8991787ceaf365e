import { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { Problem } from '@storegate/openapi';
import type { Prepared } from './read.ts';

export type Answer =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'unfit'; readonly problems: readonly Problem[]; readonly notes: readonly Problem[] }
  | { readonly kind: 'bug'; readonly error: unknown };

const PREFIX = 8;

export const ANSWER_FD = 3;

export function sendAnswer(answer: Answer): void {
  const bytes = serialize(answer);
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeDoubleBE(bytes.length);
  const socket = new Socket({ fd: ANSWER_FD });
  socket.write(prefix);
  socket.end(bytes);
}

/** Bytes arrive in small pieces so that none takes long. */
export class AnswerReader {
  #prefix = Buffer.alloc(0);
  #bytes: Buffer<ArrayBuffer> | null = null;
  #filled = 0;

  add(chunk: Buffer): void {
    if (this.#bytes) {
      this.#filled += chunk.copy(this.#bytes, this.#filled);
      return;
    }
    this.#prefix = Buffer.concat([this.#prefix, chunk]);
    if (this.#prefix.length < PREFIX) return;
    this.#bytes = Buffer.allocUnsafeSlow(this.#prefix.readDoubleBE());
    this.add(this.#prefix.subarray(PREFIX));
  }

  get bytes(): Uint8Array<ArrayBuffer> | null {
    return this.#bytes && this.#filled === this.#bytes.length ? this.#bytes : null;
  }
}

export const answerIn = (bytes: Uint8Array): Answer => deserialize(bytes) as Answer;
