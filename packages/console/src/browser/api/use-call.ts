import { useState } from 'preact/hooks';
import { ApiError } from './client.ts';

/** Runs calls of one form or button. `error`: why the last one failed; the promise has whether it succeeded. */
export function useCall() {
  const [error, setError] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);

  async function run(work: () => Promise<void>): Promise<boolean> {
    setBusy(true);
    setError(null);
    try {
      await work();
      return true;
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
      return false;
    } finally {
      setBusy(false);
    }
  }

  return { error, busy, run };
}
