import type { PeerCoverage } from '@storegate/console';
import { missingGateways } from '@storegate/console/words';
import { textOf } from './table.ts';

/** Remarks, each on a line, and the gateways that the answer lacks. */
export function withUnresponsive(remarks: readonly string[], answer: PeerCoverage): string {
  return [...remarks, ...missingGateways(answer)].map((line) => `${textOf(line)}\n`).join('');
}

/** A time in a sentence: without milliseconds. */
export const inSentence = (at: string): string => at.replace(/\.\d+(?=Z$)/, '');
