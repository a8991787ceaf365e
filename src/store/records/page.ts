/** A part of a list that is ordered by identifier: at most `size` entries, the first not less than `from`. */
export interface Page {
  readonly from: bigint;
  readonly size: bigint;
}
