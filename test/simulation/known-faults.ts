import { test } from '@jest/globals';

/**
 * Faults that the simulation shows and that are not corrected yet, by number. A correction removes its row: then its
 * case in faults/ runs, and random runs look for it again.
 */
const KNOWN: Readonly<Record<number, string>> = {};

/** `STOREGATE_TEST_FAULTS=all` looks for known faults too. */
const isAll = process.env.STOREGATE_TEST_FAULTS === 'all';

const open: ReadonlySet<number> = new Set(isAll ? [] : Object.keys(KNOWN).map(Number));

export function isKnown(fault: number): boolean {
  return open.has(fault);
}

/** A case of a fault, which is skipped while the fault is known. */
export function faultTest(fault: number, name: string, work: () => Promise<void>): void {
  if (isKnown(fault)) test.skip(name, work);
  else test(name, work);
}
