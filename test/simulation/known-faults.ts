/**
 * Faults that the simulation shows and that are not corrected yet, by number. A correction removes
 * its row: then its case in faults/ runs, and random runs look for it again.
 */
const KNOWN: Readonly<Record<number, string>> = {};

/**
 * `STOREGATE_TEST_FAULTS=all`, or numbers such as `1,4`: known faults that are looked for all the
 * same.
 */
const shown = (process.env.STOREGATE_TEST_FAULTS ?? '').split(',');

/** Whether random runs and cases leave this fault out. */
export function isKnown(fault: number): boolean {
  return String(fault) in KNOWN && !shown.includes('all') && !shown.includes(String(fault));
}
