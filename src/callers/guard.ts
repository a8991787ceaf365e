import { type CallerWindow, createCallerWindow } from './caller-window.ts';

/** Counts requests without a valid key per caller address. Callers with a valid key never reach it. */
export interface Guard {
  /** Counts one failure; `exhausted` once the window has too many. */
  fail(address: string): ReturnType<CallerWindow['take']>;
  /** The standing of the address; counts nothing. */
  look: CallerWindow['look'];
}

/** `failures` per `window` milliseconds and caller. */
export function createGuard({ failures, window }: { failures: number; window: number }): Guard {
  const { take, look } = createCallerWindow({ name: 'failures', kind: 'fixed', limit: failures, span: window });
  return { fail: (address) => take(address), look };
}
