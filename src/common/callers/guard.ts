import {
  type CallerWindow,
  createCallerWindow,
  type OpenCallerWindow,
} from './caller-window.ts';

/** Counts only requests without a valid key. */
export interface Guard {
  fail(address: string): ReturnType<CallerWindow['take']>;
  look: CallerWindow['look'];
}

/** `window` in milliseconds. */
export function createGuard(
  { failures, window }: { failures: number; window: number },
  openWindow: OpenCallerWindow = createCallerWindow,
): Guard {
  const { take, look } = openWindow({
    name: 'failures',
    kind: 'fixed',
    limit: failures,
    span: window,
  });
  return { fail: (address) => take(address), look };
}
