import {
  type AddressWindow,
  createAddressWindow,
  type OpenAddressWindow,
} from './address-window.ts';

/** Counts only requests without a valid key. */
export interface Guard {
  fail(address: string): ReturnType<AddressWindow['take']>;
  look: AddressWindow['look'];
}

/** `window` in milliseconds. */
export function createGuard(
  { failures, window }: { failures: number; window: number },
  openWindow: OpenAddressWindow = createAddressWindow,
): Guard {
  const { take, look } = openWindow({
    name: 'failures',
    kind: 'fixed',
    limit: failures,
    span: window,
  });
  return { fail: (address) => take(address), look };
}
