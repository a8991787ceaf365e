import { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import type { Problem } from '@storegate/openapi';
import type { Prepared } from './read.ts';

/** What the process that reads a contract has to say. */
export type Answer =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'unfit'; readonly problems: readonly Problem[]; readonly notes: readonly Problem[] }
  | { readonly kind: 'bug'; readonly error: unknown };

/** Bytes of the length before an answer. */
const PREFIX = 8;

/** The stream for the answer. It is none of the standard ones, to which options of Node.js write too. */
export const ANSWER_FD = 3;

/** In the process that reads: gives the answer to the one that started it. */
export function sendAnswer(answer: Answer): void {
  const bytes = serialize(answer);
  const prefix = Buffer.alloc(PREFIX);
  prefix.writeDoubleBE(bytes.length);
  const socket = new Socket({ fd: ANSWER_FD });
  socket.write(prefix);
  socket.end(bytes);
}

/** Gathers the bytes of one answer, which come in small pieces: none of them takes long. */
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

  /** The bytes of the answer, in a buffer of their own; `null` if it is not whole. */
  get bytes(): Uint8Array<ArrayBuffer> | null {
    return this.#bytes && this.#filled === this.#bytes.length ? this.#bytes : null;
  }
}

export const answerIn = (bytes: Uint8Array): Answer => deserialize(bytes) as Answer;
