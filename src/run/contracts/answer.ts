import { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { Problem } from '@storegate/openapi';
import type { Prepared } from './read.ts';

/** The result of the process that reads a contract. */
export type Answer =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'unfit'; readonly problems: readonly Problem[]; readonly notes: readonly Problem[] }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Bytes of the length prefix. */
const PREFIX = 8;

/** The stream for the answer. Node.js options also write to the standard ones. */
export const ANSWER_FD = 3;

/** In the reading process: sends the answer to its parent. */
export function sendAnswer(answer: Answer): void {
  const bytes = serialize(answer);
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeDoubleBE(bytes.length);
  const socket = new Socket({ fd: ANSWER_FD });
  socket.write(prefix);
  socket.end(bytes);
}

/** Collects the bytes of one answer, which arrive in small pieces so that none takes long. */
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

  /** The bytes of the answer in their own buffer; `null` if incomplete. */
  get bytes(): Uint8Array<ArrayBuffer> | null {
    return this.#bytes && this.#filled === this.#bytes.length ? this.#bytes : null;
  }
}

export const answerIn = (bytes: Uint8Array): Answer => deserialize(bytes) as Answer;
