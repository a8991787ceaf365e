import { bordersAround, periodAt } from '../../limits/calendar.ts';
import { kindOf } from '../../limits/kinds.ts';
import type { Limits, Window } from '../../limits/limits.ts';
import { countsIn, type Scopes } from '../../limits/scopes.ts';

export type PackedLimits = readonly [
  ids: string,
  windows: string,
  escalation: string,
];

interface Packing {
  /** Without borders, as counters store them. */
  readonly stored: PackedLimits;
  /** With the borders of calendar windows. */
  sent: PackedLimits;
  /** Until when to send these borders, Unix milliseconds; infinite without calendar windows. */
  begin: number;
  end: number;
}

const packings = new WeakMap<Limits, Packing>();

/** Clients of one plan share limits. */
export function packLimits(limits: Limits): PackedLimits {
  return packingOf(limits).stored;
}

/** For scripts. `estimate`: the clock of Redis as far as known, which chooses the borders. */
export function packWithBorders(
  limits: Limits,
  estimate: () => number,
): PackedLimits {
  const packing = packingOf(limits);
  if (packing.end === Number.POSITIVE_INFINITY) return packing.sent;
  const now = estimate();
  if (now < packing.begin || now >= packing.end)
    setBorders(packing, limits, now);
  return packing.sent;
}

function packingOf(limits: Limits): Packing {
  let packing = packings.get(limits);
  if (!packing) {
    const { windows } = limits;
    const ids = windows.map(idOf).join(',');
    const numbers = JSON.stringify(windows.flatMap(numbersOf));
    const stored = [ids, numbers, escalationOf(limits)] as const;
    const hasBorders = windows.some((window) => kindOf(window).hasZone);
    const end = hasBorders ? 0 : Number.POSITIVE_INFINITY;
    packing = { stored, sent: stored, begin: 0, end };
    packings.set(limits, packing);
  }
  return packing;
}

function setBorders(packing: Packing, { windows }: Limits, now: number): void {
  const [ids, , escalation] = packing.stored;
  const numbers = windows.flatMap((window) => withBorders(window, now));
  packing.sent = [ids, JSON.stringify(numbers), escalation];
  const periods = windows.filter((window) => kindOf(window).hasZone);
  packing.begin = Math.max(
    ...periods.map((window) => periodAt(window, now).begin),
  );
  packing.end = Math.min(...periods.map((window) => periodAt(window, now).end));
}

/** Three borders come after the limit: of the current period, and the end of the next one. */
function withBorders(window: Window, now: number) {
  const [code, span, limit, ...scope] = numbersOf(window);
  return kindOf(window).hasZone
    ? [code, span, limit, bordersAround(window, now), ...scope]
    : [code, span, limit, ...scope];
}

const masks = new WeakMap<Limits, WeakMap<Scopes, string>>();

/** Includes a mask of windows only if the request and some window have scopes. */
export function packCharge(
  limits: Limits,
  cost: number,
  scopes: Scopes,
): number | string {
  if (scopes.length === 0) return cost;
  const cached = masks.get(limits) ?? new WeakMap<Scopes, string>();
  masks.set(limits, cached);
  let mask = cached.get(scopes);
  if (mask === undefined) {
    const { windows } = limits;
    mask = windows.every(({ scope }) => scope === undefined)
      ? ''
      : `:${windows.map((one) => (countsIn(one, scopes) ? 1 : 0)).join('')}`;
    cached.set(scopes, mask);
  }
  return mask === '' ? cost : cost + mask;
}

/** Windows with the same kind, span and scope share a counter, as with `windowId`. */
export function idOf(window: Window): string {
  const id = `${kindOf(window).mark}${window.span}`;
  return window.scope === undefined ? id : `${id}@${window.scope}`;
}

/** In the tens of the code of a kind, which has one digit. Stored in Redis: never change them. */
const EXCESS_CODES = { watch: 10, overage: 20 } as const satisfies Record<
  NonNullable<Window['excess']>,
  number
>;

/** The code of the kind and of the excess, the span, the limit, and a scope. */
export function numbersOf(window: Window): (number | string)[] {
  const { excess, span, limit } = window;
  const code =
    kindOf(window).code + (excess === undefined ? 0 : EXCESS_CODES[excess]);
  const numbers = [code, span, limit];
  return window.scope === undefined ? numbers : [...numbers, window.scope];
}

function escalationOf({ escalation }: Limits): string {
  if (!escalation) return '';
  const { strikes, window, workers, minWorkers, grace, decay, durations } =
    escalation;
  return JSON.stringify([
    strikes,
    window,
    workers,
    minWorkers,
    grace,
    decay,
    ...durations,
  ]);
}
