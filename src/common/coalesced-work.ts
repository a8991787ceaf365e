/** Runs one at a time. Calls made during a run share the next run. */
export function createCoalescedWork(work: () => Promise<void>) {
  /** Never rejects. */
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;

  return {
    /** Settles like the next run that begins. A run already in progress may have begun too early. */
    next(): Promise<void> {
      next ??= running.then(() => {
        next = null;
        const working = work();
        running = working.catch(() => {});
        return working;
      });
      return next;
    },
    async idle(): Promise<void> {
      await next?.catch(() => {});
      await running;
    },
  };
}
