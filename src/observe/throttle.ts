/** Lets through the first event of a kind and then one in each `span`. Its kinds are a fixed set, so its memory is bounded. */
export type Throttle = (kind: string) => number | null;

/**
 * Returns a function that says how many events of a kind there were since the last one that it let through, this one
 * included; `null` for one to keep silent about.
 *
 * @param span milliseconds
 * @param now milliseconds of a clock that never goes back
 */
export function throttle(span: number, now: () => number = () => performance.now()): Throttle {
  const kinds = new Map<string, { since: number; silent: number }>();
  return (kind) => {
    const known = kinds.get(kind);
    if (known !== undefined && now() - known.since < span) {
      known.silent++;
      return null;
    }
    kinds.set(kind, { since: now(), silent: 0 });
    return (known?.silent ?? 0) + 1;
  };
}
