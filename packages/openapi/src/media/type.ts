/**
 * A media type as a header or a contract names it (RFC 9110 section 8.3.1). All but parameter values is in lower case.
 */
export interface MediaType {
  /** `*` in a range of a contract. */
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TYPE = /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\/([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*/;
const PARAMETER =
  /;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*/y;

/** `null` if the text is no media type, or names a parameter twice. */
export function parseMediaType(text: string): MediaType | null {
  const [whole, type, subtype] = TYPE.exec(text) ?? [];
  if (whole === undefined || type === undefined || subtype === undefined) return null;
  const parameters = new Map<string, string>();
  for (let at = whole.length; at < text.length; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(text);
    if (!found) return null;
    const [, name, token, quoted = ''] = found;
    if (name === undefined) continue;
    if (parameters.has(name.toLowerCase())) return null;
    parameters.set(name.toLowerCase(), token ?? quoted.replace(/\\(.)/g, '$1'));
  }
  return { type: type.toLowerCase(), subtype: subtype.toLowerCase(), parameters };
}

/** JSON itself, also by its old name, or a format built on it (RFC 6839 section 3.1). */
export const isJson = ({ type, subtype }: MediaType): boolean =>
  ((type === 'application' || type === 'text') && subtype === 'json') || subtype.endsWith('+json');

/** XML itself, or a format built on it (RFC 7303 sections 4 and 9.1). */
export const isXml = ({ type, subtype }: MediaType): boolean =>
  ((type === 'application' || type === 'text') && subtype === 'xml') || subtype.endsWith('+xml');

/** Whether a media type or a range of a contract covers a type. It ignores `charset`: only UTF-8 is read. */
export function covers(range: MediaType, type: MediaType): boolean {
  if (range.type !== '*' && range.type !== type.type) return false;
  if (range.subtype !== '*' && range.subtype !== type.subtype) return false;
  return [...range.parameters].every(([name, value]) => name === 'charset' || type.parameters.get(name) === value);
}

/** UTF-8 by its name, by a usual misspelling, and by the names of its lower half. */
const UTF8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

/** Whether the text is in UTF-8, which is the default. */
export function isUtf8Type({ parameters }: MediaType): boolean {
  const charset = parameters.get('charset');
  return charset === undefined || UTF8.has(charset.toLowerCase());
}
