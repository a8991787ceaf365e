import { test } from '@jest/globals';
import { isKnown } from '../known-faults.ts';

/** A case of a fault, which is skipped while the fault is known. */
export function faultTest(fault: number, name: string, work: () => Promise<void>): void {
  if (isKnown(fault)) test.skip(name, work);
  else test(name, work);
}
