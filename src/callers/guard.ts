import { type CallerWindow, createCallerWindow } from './caller-window.ts';

/** Counts requests without a valid key per client address. Requests with a valid key are not counted. */
export interface Guard {
  /** Counts one failure; `exhausted` once the window has too many. */
  fail(address: string): ReturnType<CallerWindow['take']>;
  /** Reads the address's window without counting. */
  look: CallerWindow['look'];
}

/** `failures` per `window` milliseconds and client. */
export function createGuard({ failures, window }: { failures: number; window: number }): Guard {
  const { take, look } = createCallerWindow({ name: 'failures', kind: 'fixed', limit: failures, span: window });
  return { fail: (address) => take(address), look };
}
