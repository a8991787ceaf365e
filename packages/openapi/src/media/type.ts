/** RFC 9110 section 8.3.1, in lower case except for parameter values. */
export interface MediaType {
  /** `*` in a range of a contract. */
  readonly type: string;
  readonly subtype: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TYPE =
  /^[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\/([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*/;
const PARAMETER =
  /;[ \t]*(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:([!#$%&'*+.^_`|~0-9A-Za-z-]+)|"((?:[^"\\]|\\.)*)"))?[ \t]*/y;

/** `null` if the text is not valid, or repeats a parameter. */
export function parseMediaType(text: string): MediaType | null {
  const [whole, type, subtype] = TYPE.exec(text) ?? [];
  if (whole === undefined || type === undefined || subtype === undefined)
    return null;
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
  return {
    type: type.toLowerCase(),
    subtype: subtype.toLowerCase(),
    parameters,
  };
}

/** RFC 6839 section 3.1; also the old name. */
export const isJson = ({ type, subtype }: MediaType): boolean =>
  ((type === 'application' || type === 'text') && subtype === 'json') ||
  subtype.endsWith('+json');

/** RFC 7303 sections 4 and 9.1. */
export const isXml = ({ type, subtype }: MediaType): boolean =>
  ((type === 'application' || type === 'text') && subtype === 'xml') ||
  subtype.endsWith('+xml');

/** Ignores `charset`: only UTF-8 is read. */
export function covers(range: MediaType, type: MediaType): boolean {
  if (range.type !== '*' && range.type !== type.type) return false;
  if (range.subtype !== '*' && range.subtype !== type.subtype) return false;
  return [...range.parameters].every(
    ([name, value]) =>
      name === 'charset' || type.parameters.get(name) === value,
  );
}

/** With a common misspelling and the ASCII subset. */
const UTF8 = new Set(['utf-8', 'utf8', 'us-ascii', 'ascii']);

export function isUtf8Type({ parameters }: MediaType): boolean {
  const charset = parameters.get('charset');
  return charset === undefined || UTF8.has(charset.toLowerCase());
}
