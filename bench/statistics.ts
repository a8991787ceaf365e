export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
  readonly max: number;
}

export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  /** Linear interpolation; `share` is from 0 to 1. */
  const percentile = (share: number) => {
    const at = (sorted.length - 1) * share;
    const [low, high] = [sorted[Math.floor(at)]!, sorted[Math.ceil(at)]!];
    return low + (high - low) * (at - Math.floor(at));
  };
  return {
    min: sorted[0]!,
    median: percentile(0.5),
    p99: percentile(0.99),
    max: sorted.at(-1)!,
  };
}
