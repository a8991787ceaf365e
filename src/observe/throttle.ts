/**
 * Lets through the first event of a kind and then one per `span`. Returns the number of events
 * since the last one, this one included, or `null` to suppress it. Kinds must be a fixed set, which
 * bounds the memory.
 *
 * @param span milliseconds
 * @param now milliseconds of a monotonic clock
 */
export function throttle(
  span: number,
  now: () => number = () => performance.now(),
) {
  const kinds = new Map<string, { since: number; silent: number }>();
  return (kind: string, events = 1): number | null => {
    const existing = kinds.get(kind);
    if (existing !== undefined && now() - existing.since < span) {
      existing.silent += events;
      return null;
    }
    kinds.set(kind, { since: now(), silent: 0 });
    return (existing?.silent ?? 0) + events;
  };
}
