/**
 * A key or a prefix of one, in any letter case. From 16 random characters on every prefix counts; from 8 on, a prefix with a digit or
 * with letters of both cases: other words of that length are names, such as of accounts.
 */
const LIKE_A_KEY =
  /[sS][gG]_[A-Za-z]{1,12}_(?:[0-9A-Za-z]{16,}|(?=[A-Za-z]*[0-9]|[a-z]+[A-Z]|[A-Z]+[a-z])[0-9A-Za-z]{8,15})(?:_[0-9A-Za-z]*)?/g;

/** Whether `text` has a part that looks like a key. */
export function holdsSecret(text: string): boolean {
  return text.search(LIKE_A_KEY) !== -1;
}

/** The text with `sg_…` in place of every part that looks like a key, for messages and logs. */
export function maskSecrets(text: string): string {
  // Every line of the log comes by: two fast searches spare nearly all of them the slow one.
  if (!text.includes('g_') && !text.includes('G_')) return text;
  return text.replaceAll(LIKE_A_KEY, 'sg_…');
}

/** The fault with `sg_…` in place of every part that looks like a key. */
export function maskedFault<T extends { readonly pointer: string; readonly message: string }>(fault: T): T {
  return { ...fault, pointer: maskSecrets(fault.pointer), message: maskSecrets(fault.message) };
}
