import type { KeyBody } from './key-fields.ts';
import type { BadRow } from './rows.ts';

/**
 * Keys in one call, and bytes of them. A call takes a thousand, and a body 256 KiB; but a gateway on the embedded state answers
 * nobody while it checks and keeps a call.
 */
const MOST_KEYS = 250;
const MOST_BYTES = 180_000;
/** Mistakes that wait for those of the call. */
const MOST_REFUSED = 1_000;

interface Key {
  readonly at: string;
  /** Its place in the file, from 1. */
  readonly row: number;
  readonly body: KeyBody;
}

/** What of a file goes into one call, and what does not. */
export class Batch {
  readonly keys: Key[] = [];
  readonly refused: { readonly row: number; readonly flaw: BadRow }[] = [];
  #bytes = 0;

  /** One more key fits as long as it is not: none is larger than the rest of a body. */
  get isFull(): boolean {
    return this.keys.length >= MOST_KEYS || this.#bytes >= MOST_BYTES || this.refused.length >= MOST_REFUSED;
  }

  add(key: Key): void {
    this.keys.push(key);
    this.#bytes += Buffer.byteLength(JSON.stringify(key.body));
  }

  refuse(row: number, flaw: BadRow): void {
    this.refused.push({ row, flaw });
  }
}
