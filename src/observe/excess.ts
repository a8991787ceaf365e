import { type Excess, excessOf } from '../limits/admission.ts';
import type { RequestEvent } from './events.ts';

const NONE: readonly Excess[] = Object.freeze([]);

/** Windows that the request exceeded, although it was admitted: they only watch or have overage. */
export function excessIn({ trace }: RequestEvent): readonly Excess[] {
  return trace?.admission
    ? excessOf(trace.admission, trace.cost, trace.scopes)
    : NONE;
}
