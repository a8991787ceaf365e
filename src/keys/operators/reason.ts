/** UTF-8, percent-encoded. */
export const REASON_HEADER = 'X-Storegate-Reason';

export function encodeReason(reason: string): string {
  return encodeURIComponent(reason);
}
