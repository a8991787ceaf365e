/** Milliseconds until the offset is outdated: clocks drift and are adjusted. */
const RESYNC_INTERVAL = 10_000;
/** Milliseconds. No response is so slow: Redis's clock was set back. */
const MAX_DELAY = 1_000;

/**
 * Estimates Redis's clock from the times in its responses. The estimate is ahead by at most
 * the drift of ten seconds, and behind by the duration of the fastest response.
 * `local`: milliseconds since any fixed time.
 */
export function createStateClock(
  local: () => number = () => performance.timeOrigin + performance.now(),
) {
  let lastOffset: number | null = null;
  let learntAt = 0;
  /** Unix milliseconds. */
  const read = () => Math.floor(local() + (lastOffset ?? 0));

  return {
    read,
    /** `now`: the time in a response, Unix milliseconds. */
    learn(now: number) {
      const at = local();
      const offset = now - at;
      const before = lastOffset ?? offset;
      const isSlower = offset < before && offset >= before - MAX_DELAY;
      if (isSlower && at < learntAt + RESYNC_INTERVAL) return;
      lastOffset = offset;
      learntAt = at;
    },
  };
}

export type StateClock = ReturnType<typeof createStateClock>;
