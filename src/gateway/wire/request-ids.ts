import { randomBytes, randomUUID } from 'node:crypto';

const SERIES = 2 ** 20;
const HEX = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
);

/**
 * A random UUID costs a twentieth of a refusal, so the ids of a series share the head of one UUID.
 * The tail steps through all 32-bit numbers by an odd random stride, so two ids do not reveal how
 * many requests came between them.
 */
export function requestIds(): () => string {
  let remaining = 0;
  let head = '';
  let at = 0;
  let stride = 1;

  function begin(): void {
    remaining = SERIES;
    head = randomUUID().slice(0, 28);
    const random = randomBytes(8);
    at = random.readUInt32LE(0);
    stride = (random.readUInt32LE(4) | 1) >>> 0;
  }

  return () => {
    if (remaining === 0) begin();
    remaining--;
    at = (at + stride) >>> 0;
    return (
      head +
      (HEX[at >>> 24]! +
        HEX[(at >>> 16) & 255] +
        HEX[(at >>> 8) & 255] +
        HEX[at & 255])
    );
  };
}
