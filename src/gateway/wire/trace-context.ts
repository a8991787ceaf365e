import { oneByte } from '@storegate/http1';

/** W3C Trace Context, level 2. */

const IDS = '(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}';
/** Version 00 has 55 characters. A later version may have more after a dash, and ff is invalid. */
const TRACEPARENT = new RegExp(
  `^(?:00-${IDS}|(?!00|ff)[0-9a-f]{2}-${IDS}(?:-.*)?)$`,
);
const LENGTH = 55;

/** A copy; `undefined` if invalid. */
export function traceparentOf(value: string): string | undefined {
  return TRACEPARENT.test(value) ? oneByte(value.slice(0, LENGTH)) : undefined;
}

const MOST_MEMBERS = 32;
const KEY = '[a-z0-9][a-z0-9_\\-*/@]{0,255}';
const VALUE =
  '[\\x20-\\x2b\\x2d-\\x3c\\x3e-\\x7e]{0,255}[\\x21-\\x2b\\x2d-\\x3c\\x3e-\\x7e]';
const MEMBER = new RegExp(`^[ \\t]*(${KEY})=${VALUE}[ \\t]*$`);

/** A copy; `undefined` if invalid. */
export function tracestateOf(value: string): string | undefined {
  const keys = new Set<string>();
  let members = 0;
  for (const member of value.split(',')) {
    if (member.trim() === '') continue;
    const [, key] = MEMBER.exec(member) ?? [];
    if (key === undefined || keys.has(key) || ++members > MOST_MEMBERS)
      return undefined;
    keys.add(key);
  }
  return members === 0 ? undefined : oneByte(value);
}
