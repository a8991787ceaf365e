/**
 * A key or a prefix of one, in any letter case. A prefix with 8 to 15 random characters needs a
 * digit or mixed case, because other words of that length are often names.
 */
const LIKE_A_KEY =
  /[sS][gG]_[A-Za-z]{1,12}_(?:[0-9A-Za-z]{16,}|(?=[A-Za-z]*[0-9]|[a-z]+[A-Z]|[A-Z]+[a-z])[0-9A-Za-z]{8,15})(?:_[0-9A-Za-z]*)?/g;

export function holdsSecret(text: string): boolean {
  return text.search(LIKE_A_KEY) !== -1;
}

export function maskSecrets(text: string): string {
  // Runs for every log line: two fast searches nearly always avoid the slow one.
  if (!text.includes('g_') && !text.includes('G_')) return text;
  return text.replaceAll(LIKE_A_KEY, 'sg_…');
}

export function maskedFault<
  T extends { readonly pointer: string; readonly message: string },
>(fault: T): T {
  return {
    ...fault,
    pointer: maskSecrets(fault.pointer),
    message: maskSecrets(fault.message),
  };
}
