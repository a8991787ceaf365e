import { randomFillSync } from 'node:crypto';

/** Bytes drawn at once; single draws are much slower. */
const POOL = 4_096;

const pool = Buffer.allocUnsafe(POOL);
let at = POOL;

/** W3C Trace Context: random, lower-case hex, never only zeros. */
export function newTraceId(): string {
  return draw(16);
}

export function newSpanId(): string {
  return draw(8);
}

function draw(bytes: number): string {
  if (at + bytes > POOL) {
    randomFillSync(pool);
    at = 0;
  }
  const from = at;
  at += bytes;
  const id = pool.toString('hex', from, at);
  return NONE.test(id) ? draw(bytes) : id;
}

const NONE = /^0+$/;
