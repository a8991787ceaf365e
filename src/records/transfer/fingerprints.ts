import { hash } from 'node:crypto';

/**
 * Detects repeated names among millions in about 12 bytes per name, by 64 bits of a digest. Among
 * ten million names the probability of a collision is 1 in 370,000.
 */
export function createFingerprints() {
  let slots = new Uint32Array(2 * 1_024);
  let size = 0;

  function grow(): void {
    const old = slots;
    slots = new Uint32Array(old.length * 2);
    for (let i = 0; i < old.length; i += 2)
      if (old[i] !== 0) put(slots, old[i]!, old[i + 1]!);
  }

  return {
    /** Returns `false` for a repeated name. */
    add(name: string): boolean {
      const [high, low] = printOf(name);
      if (!put(slots, high, low)) return false;
      size += 1;
      // Maximum load: 13 of 16 slots.
      if (size * 32 > slots.length * 13) grow();
      return true;
    },
    has(name: string): boolean {
      const [high, low] = printOf(name);
      return slots[find(slots, high, low)] !== 0;
    },
  };
}

function put(slots: Uint32Array, high: number, low: number): boolean {
  const at = find(slots, high, low);
  if (slots[at] !== 0) return false;
  slots[at] = high;
  slots[at + 1] = low;
  return true;
}

function find(slots: Uint32Array, high: number, low: number): number {
  const mask = slots.length / 2 - 1;
  let place = high & mask;
  while (
    slots[2 * place] !== 0 &&
    (slots[2 * place] !== high || slots[2 * place + 1] !== low)
  )
    place = (place + 1) & mask;
  return 2 * place;
}

/** 0 marks a free slot, so no print begins with it. */
function printOf(name: string): [high: number, low: number] {
  const digest = hash('sha256', name, 'buffer');
  return [digest.readUInt32LE(0) || 1, digest.readUInt32LE(4)];
}
