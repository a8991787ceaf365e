export type DelayedRun = ReturnType<typeof createDelayedRun>;

/**
 * Runs `work` `delay` milliseconds after the first `plan`. An idle process then has no timer.
 */
export function createDelayedRun(work: () => void, delay: number) {
  let timer: NodeJS.Timeout | null = null;

  /** Without effect while a run is planned. */
  function plan(): void {
    timer ??= setTimeout(() => {
      timer = null;
      work();
    }, delay).unref();
  }

  return {
    plan,
    /** A cleared timer stays, so that no other starts. */
    close(): void {
      plan();
      clearTimeout(timer!);
    },
  };
}
