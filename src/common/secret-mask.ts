/** Whatever begins as a key does, whole or cut short: a word and enough digits that nobody calls an account so. */
const LIKE_A_KEY = /sg_[a-z]{1,12}_[0-9A-Za-z]{16,}(?:_[0-9A-Za-z]*)?/g;

/** Whether there is something in `text` that looks like a key. */
export function holdsSecret(text: string): boolean {
  return text.search(LIKE_A_KEY) !== -1;
}

/** The text with `sg_…` in place of everything that looks like a key, for messages and logs. */
export function maskSecrets(text: string): string {
  return text.replaceAll(LIKE_A_KEY, 'sg_…');
}

/** The fault without what looks like a key. */
export function maskedFault<T extends { readonly pointer: string; readonly message: string }>(fault: T): T {
  return { ...fault, pointer: maskSecrets(fault.pointer), message: maskSecrets(fault.message) };
}
