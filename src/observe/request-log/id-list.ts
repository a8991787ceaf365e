const BYTES = 16;
const MOST = 128;
const FIRST = 8;

/** Takes 16 to 32 bytes per id; after `MOST` ids each replaces the oldest. */
export class IdList {
  #bytes = Buffer.alloc(0);
  #count = 0;

  add(id: string): void {
    const at = (this.#count % MOST) * BYTES;
    if (at === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], Math.max(FIRST * BYTES, at * 2));
    this.#write(id, at);
    this.#count++;
  }

  /** Each refusal of a flood pays for it: `Buffer.write` needs a copy without hyphens. */
  #write(id: string, start: number): void {
    const bytes = this.#bytes;
    for (let i = 0, at = start; at < start + BYTES; i++) {
      const high = id.charCodeAt(i);
      if (high !== 45) bytes[at++] = (nibble(high) << 4) | nibble(id.charCodeAt(++i));
    }
  }

  has(id: string): boolean {
    const wanted = Buffer.from(id.replaceAll('-', ''), 'hex');
    if (wanted.length !== BYTES) return false;
    const used = this.#bytes.subarray(0, Math.min(this.#count, MOST) * BYTES);
    for (let at = used.indexOf(wanted); at !== -1; at = used.indexOf(wanted, at + 1)) if (at % BYTES === 0) return true;
    return false;
  }
}

/** Of a lower-case hexadecimal digit. */
function nibble(code: number): number {
  return (code & 15) + (code >> 6) * 9;
}
