const MAX_LENGTH = 8_192;
const MAX_PAIRS = 64;

/** OpenTelemetry: W3C Baggage, values percent-encoded; the last of equal keys counts. `null` if invalid. */
export function readPairs(text: string): Readonly<Record<string, string>> | null {
  if (text.length > MAX_LENGTH) return null;
  const pairs: Record<string, string> = Object.create(null);
  const members = text.split(',').filter((member) => member.trim() !== '');
  if (members.length === 0 || members.length > MAX_PAIRS) return null;
  for (const member of members) {
    const at = member.indexOf('=');
    const key = member.slice(0, at).trim();
    const value = decoded(member.slice(at + 1).trim());
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
    if (at < 0 || key === '' || value === null || /[\x00-\x1f\x7f]/.test(key + value)) return null;
    pairs[key] = value;
  }
  return pairs;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
