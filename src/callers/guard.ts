import { type CallerWindow, createCallerWindow } from './caller-window.ts';

/** Counts requests without a valid key per caller address. Callers with a valid key never reach it. */
export interface Guard {
  /** Counts one failure; `exhausted` once the window has too many. */
  fail(address: string): ReturnType<CallerWindow['take']>;
  /** The standing of the address; counts nothing. */
  look: CallerWindow['look'];
}

/** `failures` per `span` milliseconds and caller. */
export function createGuard({ failures, span }: { failures: number; span: number }): Guard {
  const { take, look } = createCallerWindow({ name: 'failures', kind: 'fixed', limit: failures, span });
  return { fail: (address) => take(address), look };
}
