import type { KeyBody } from './key-fields.ts';
import type { BadRow } from './rows.ts';

/** Per call, less than the API allows: a gateway with embedded state serves no request meanwhile. */
const MAX_KEYS = 250;
const MAX_BYTES = 180_000;
const MAX_REFUSED = 1_000;

interface Key {
  readonly at: string;
  /** From 1. */
  readonly row: number;
  readonly body: KeyBody;
}

export class Batch {
  readonly keys: Key[] = [];
  readonly refused: { readonly row: number; readonly flaw: BadRow }[] = [];
  #bytes = 0;

  /** No key is larger than the rest of a body. */
  get isFull(): boolean {
    return this.keys.length >= MAX_KEYS || this.#bytes >= MAX_BYTES || this.refused.length >= MAX_REFUSED;
  }

  add(key: Key): void {
    this.keys.push(key);
    this.#bytes += Buffer.byteLength(JSON.stringify(key.body));
  }

  refuse(row: number, flaw: BadRow): void {
    this.refused.push({ row, flaw });
  }
}
