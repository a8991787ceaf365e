/** 32-bit numbers: one for IPv4, four for IPv6. */
export type Words = readonly number[];

/** `null` if invalid. Ignores a zone (`%eth0`), and reads `::ffff:192.0.2.7` as IPv4. */
export function wordsOf(address: string): Words | null {
  const zone = address.indexOf('%');
  return read(address, zone === -1 ? address.length : zone);
}

/**
 * One text for all spellings of an address: IPv6 as in RFC 5952 without a zone, and IPv4 for an
 * IPv4-mapped address. An invalid address stays unchanged.
 */
export function canonicalAddress(address: string): string {
  if (!address.includes(':')) return address;
  const words = wordsOf(address);
  if (words === null) return address;
  return words.length === 1
    ? textOfIPv4(words[0]!)
    : new URL(`http://[${address.split('%', 1)[0]}]`).hostname.slice(1, -1);
}

export function textOfIPv4(word: number): string {
  return [
    word >>> 24,
    (word >>> 16) & 255,
    (word >>> 8) & 255,
    word & 255,
  ].join('.');
}

export interface CidrRange {
  readonly first: Words;
  readonly bits: number;
}

/** `null` if invalid, also for `10.0.0.1/8`, which could mean one address or sixteen million. */
export function parseCidr(text: string): CidrRange | null {
  const slash = text.indexOf('/');
  const end = slash === -1 ? text.length : slash;
  const first = read(text, end);
  if (first === null) return null;
  const colon = text.indexOf(':');
  const written = colon === -1 ? 32 : 128;
  const length = slash === -1 ? written : lengthIn(text, slash + 1);
  const bits = length - (written - 32 * first.length);
  if (length > written || bits < 0) return null;
  for (let i = 0; i < first.length; i++)
    if ((first[i]! & hostBits(bits, i)) !== 0) return null;
  return { first, bits };
}

export function lastAddress({ first, bits }: CidrRange): Words {
  return first.map((word, i) => (word | hostBits(bits, i)) >>> 0);
}

function hostBits(bits: number, word: number): number {
  const inWord = Math.min(Math.max(bits - 32 * word, 0), 32);
  return inWord === 32 ? 0 : 0xffff_ffff >>> inWord;
}

function lengthIn(text: string, from: number): number {
  const digits = text.slice(from);
  return /^(?:0|[1-9]\d{0,2})$/.test(digits) ? Number(digits) : -1;
}

function read(text: string, end: number): Words | null {
  const ipv4 = readIPv4(text, 0, end);
  return ipv4 === -1 ? readIPv6(text, end) : [ipv4];
}

/** Without leading zeros (RFC 6943 section 3.1.1); -1 if invalid. */
function readIPv4(text: string, from: number, end: number): number {
  let word = 0;
  let at = from;
  for (let part = 0; part < 4; part++) {
    if (part > 0 && text.charCodeAt(at++) !== 0x2e) return -1;
    const begin = at;
    let value = 0;
    for (; at < end; at++) {
      const digit = text.charCodeAt(at) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      if (value > 255) return -1;
    }
    if (at === begin || (at > begin + 1 && text.charCodeAt(begin) === 0x30))
      return -1;
    word = word * 256 + value;
  }
  return at === end ? word : -1;
}

/** RFC 4291 section 2.2. */
function readIPv6(text: string, end: number): Words | null {
  const groups: number[] = [];
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    const begin = at;
    let group = 0;
    for (; at < end && at < begin + 4; at++) {
      const digit = hexDigit(text.charCodeAt(at));
      if (digit === -1) break;
      group = group * 16 + digit;
    }
    if (at < end && text.charCodeAt(at) === 0x2e) {
      const word = readIPv4(text, begin, end);
      if (word === -1) return null;
      groups.push(word >>> 16, word & 0xffff);
      break;
    }
    if (at === begin) return null;
    groups.push(group);
    if (at === end) break;
    if (text.charCodeAt(at++) !== 0x3a || at === end || groups.length > 7)
      return null;
    if (text.charCodeAt(at) !== 0x3a) continue;
    if (gap !== -1) return null;
    gap = groups.length;
    at++;
  }
  return wordsIn(groups, gap);
}

function wordsIn(groups: readonly number[], gap: number): Words | null {
  const missing = 8 - groups.length;
  if (gap === -1 ? missing !== 0 : missing < 1) return null;
  const at = (i: number) =>
    i < gap || gap === -1
      ? groups[i]!
      : i < gap + missing
        ? 0
        : groups[i - missing]!;
  const word = (i: number) => at(i) * 0x1_0000 + at(i + 1);
  const [first, second, third, last] = [word(0), word(2), word(4), word(6)];
  // RFC 4291 section 2.5.5.2.
  return first === 0 && second === 0 && third === 0xffff
    ? [last]
    : [first, second, third, last];
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
}
