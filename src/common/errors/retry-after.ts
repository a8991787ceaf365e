/** Delay-seconds (RFC 9110 section 10.2.3): never early, never 0. Times are Unix milliseconds. */
export function retryAfter(retryAt: number, now: number): string[] {
  return ['Retry-After', `${wholeSeconds(retryAt - now)}`];
}

/** A moment as it is sent to clients, never early: the next whole second, in Unix milliseconds. */
export function nextSecond(moment: number): number {
  return Math.ceil(moment / 1000) * 1000;
}

export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
