import { kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { countsIn, type Scopes } from '../../limits/scopes.ts';

export type PackedLimits = readonly [ids: string, windows: string, escalation: string];

const packed = new WeakMap<Limits, PackedLimits>();

/** Clients of one plan share limits. */
export function packLimits(limits: Limits): PackedLimits {
  let result = packed.get(limits);
  if (!result) {
    const { windows } = limits;
    result = [
      windows.map(idOf).join(','),
      JSON.stringify(windows.flatMap(numbersOf)),
      escalationOf(limits),
    ];
    packed.set(limits, result);
  }
  return result;
}

const masks = new WeakMap<Limits, WeakMap<Scopes, string>>();

/** Includes a mask of windows only if the request has scopes. */
export function packCharge(limits: Limits, cost: number, scopes: Scopes): number | string {
  if (scopes.length === 0) return cost;
  const known = masks.get(limits) ?? new WeakMap<Scopes, string>();
  masks.set(limits, known);
  let mask = known.get(scopes);
  if (mask === undefined) {
    mask = limits.windows.map((window) => (countsIn(window, scopes) ? 1 : 0)).join('');
    known.set(scopes, mask);
  }
  return `${cost}:${mask}`;
}

/** Windows with the same kind, span and scope share a counter, as with `windowId`. */
export function idOf(window: Window): string {
  const id = `${kindOf(window).mark}${window.span}`;
  return window.scope === undefined ? id : `${id}@${window.scope}`;
}

/** The code of the kind, the span, the limit, and a scope. */
export function numbersOf(window: Window): (number | string)[] {
  const numbers = [kindOf(window).code, window.span, window.limit];
  return window.scope === undefined ? numbers : [...numbers, window.scope];
}

function escalationOf({ escalation }: Limits): string {
  if (!escalation) return '';
  const { strikes, window, workers, grace, decay, durations } = escalation;
  return JSON.stringify([strikes, window, workers, grace, decay, ...durations]);
}
