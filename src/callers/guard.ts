import type { Standing } from '../limits/admission.ts';
import { createAddressWindow } from './address-window.ts';

/** Counts requests without a valid key per caller address. Callers with a valid key never reach it. */
export interface Guard {
  /** Counts one failure; `exhausted` once the window has too many. */
  fail(address: string): Promise<Standing & { readonly exhausted: boolean }>;
  /** The standing of the address; counts nothing. */
  look(address: string): Promise<Standing>;
  /** Number of callers with a counter of their own; bounded. */
  readonly size: number;
}

/** `failures` per `span` milliseconds and caller. */
export function createGuard({ failures, span }: { failures: number; span: number }): Guard {
  const window = createAddressWindow({ name: 'failures', kind: 'fixed', limit: failures, span });
  return {
    get size() {
      return window.size;
    },
    fail: (address) => window.take(address),
    look: (address) => window.look(address),
  };
}
