import { isWellFormed } from '../records/keys/secret.ts';

/** What may be a key in a pasted text. */
export interface PastedKey {
  readonly key: string;
  /** What was read, without the key: `the value of X-API-Key`. */
  readonly what: string;
}

/** Characters that a key may have. */
const LONGEST = 512;
/** Forms inside of each other, such as a header line in quotes in JSON. */
const LAYERS = 20;
/** Names whose value is a key: `api_key`, `X-API-Key`, `authorization`. */
const NAMES_KEY = /key|token|secret|authorization/i;
const HEADER = /^([\w-]+):\s*(\S.*)$/s;
const ASSIGNMENT = /^(?:export\s+|set\s+)?([\w.-]+)\s*=\s*([^=\s].*)$/s;
const PARAMETER = /[?&]([\w.-]+)=([^&#\s]+)/g;
const QUOTED = /^(["'`])(.+)\1[,;]?$/s;
const SCHEME = /^(?:Bearer|ApiKey|Basic)\s+(\S.*)$/is;

/**
 * The keys that a pasted text may mean, the likeliest first: a text with a key of this gateway, or
 * a header line, an assignment, an address, JSON or a quoted text with a key of another system, or
 * the key alone.
 */
export function pastedKeys(pasted: string): PastedKey[] {
  const text = pasted.trim();
  if (text === '') return [];
  const whole = { key: text, what: 'the whole text' };
  const own = [...new Set(text.match(/sg_\w+/g))].filter(isWellFormed);
  if (own.length > 0)
    return own.map((key, i) => ({
      key,
      what:
        key === text
          ? whole.what
          : own.length === 1
            ? 'the key in the text'
            : `key ${i + 1} of ${own.length} in the text`,
    }));
  const inner = unwrapped(text, whole.what);
  return (inner.key === text ? [whole] : [inner, whole]).filter(
    ({ key }) => key.length <= LONGEST,
  );
}

function unwrapped(text: string, what: string): PastedKey {
  const read = { key: text, what };
  for (let layer = 0; layer < LAYERS; layer++) {
    const found =
      fromJson(read.key) ?? fromAddress(read.key) ?? fromLine(read.key);
    if (found === null) break;
    const [name, value] = found;
    read.key = value.trim();
    if (name !== null) read.what = `the value of ${name}`;
  }
  return read;
}

type Found = readonly [name: string | null, value: string];

function fromJson(text: string): Found | null {
  if (!/^[{["]/.test(text)) return null;
  try {
    return textIn(JSON.parse(text), null, LAYERS);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The first text, in objects the first with the name of a key. */
function textIn(
  value: unknown,
  name: string | null,
  levels: number,
): Found | null {
  if (typeof value === 'string') return [name, value];
  if (typeof value !== 'object' || value === null || levels === 0) return null;
  const isList = Array.isArray(value);
  for (const [member, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && !isList && !NAMES_KEY.test(member))
      continue;
    const found = textIn(inner, isList ? name : member, levels - 1);
    if (found !== null) return found;
  }
  return null;
}

function fromAddress(text: string): Found | null {
  for (const [, name = '', value = ''] of text.matchAll(PARAMETER))
    if (NAMES_KEY.test(name)) return [name, decoded(value)];
  return null;
}

/** What is not percent-encoded stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

function fromLine(text: string): Found | null {
  const [, , quoted] = QUOTED.exec(text) ?? [];
  if (quoted !== undefined) return [null, quoted];
  const [, credentials] = SCHEME.exec(text) ?? [];
  if (credentials !== undefined) return [null, credentials];
  const [, name, value] = HEADER.exec(text) ?? ASSIGNMENT.exec(text) ?? [];
  return name === undefined ? null : [name, value!];
}
