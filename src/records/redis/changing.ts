import { numberOf, type Progress } from './progress.ts';

/**
 * Hashes of keys that entries of the log have changed which the copy lacks: Redis is asked for them
 * until the copy has the entries, so that a revoked key is refused before they are read.
 */
export function createChanging(progress: () => Progress | null) {
  const numbers = new Map<string, number>();
  let epoch: string | undefined;

  const isTaken = (number: number) =>
    number <= numberOf(progress()?.audit ?? '0');

  /** Forgets what the copy has, and what was changed in other data. */
  function prune() {
    if (progress()?.epoch !== epoch) numbers.clear();
    epoch = progress()?.epoch;
    for (const [hash, number] of numbers)
      if (isTaken(number)) numbers.delete(hash);
  }

  return {
    /** `number`: of the entry. Returns whether there is any such key. */
    add(number: number, hashes: readonly string[]): boolean {
      if (isTaken(number)) return false;
      prune();
      for (const hash of hashes) numbers.set(hash, number);
      return hashes.length > 0;
    },
    has: (hash: string) => !isTaken(numbers.get(hash) ?? 0),
  };
}
