const KEY_ID = /^key_[0-9A-Za-z]{16}$/;

/** Whether the text is the whole id of a key; no account is called so. */
export const isKeyId = (text: string): boolean => KEY_ID.test(text);
