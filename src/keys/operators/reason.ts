/** Header in which a call says why it is made: UTF-8, percent-encoded. */
export const REASON_HEADER = 'X-Storegate-Reason';

/** As the header carries it. */
export function encodeReason(reason: string): string {
  return encodeURIComponent(reason);
}
