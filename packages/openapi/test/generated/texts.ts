import { isObject, type Json, type Parameter } from './document.ts';

type Plain = string | number | boolean;

const isPlain = (value: unknown): value is Plain =>
  ['string', 'number', 'boolean'].includes(typeof value);

/** The gateway refuses these in paths, and clients cannot send them in headers. */
const UNWRITTEN = {
  path: /[/\\;?#\p{Cc}]/u,
  header: /[^\x21-\x7e]/,
  query: /\p{Cs}/u,
  cookie: /\p{Cs}/u,
} as const;
/** Separators that have no encoded form in their style. */
const SEPARATORS: Readonly<Record<string, RegExp>> = {
  label: /\./,
  spaceDelimited: /[ +]/,
  pipeDelimited: /\|/,
};

/** OpenAPI 3.0.3, "Style Values"; RFC 6570. */
export function isWritable(parameter: Parameter, value: unknown): boolean {
  if (parameter.document) return parameter.in === 'query';
  if (parameter.style === 'deepObject' && !isObject(value)) return false;
  const pieces = piecesOf(value);
  if (pieces === null || pieces.length === 0) return false;
  const isList = !isPlain(value);
  const separator = isList
    ? (SEPARATORS[parameter.style] ?? (parameter.in === 'header' ? /[,=]/ : null))
    : null;
  if (parameter.in === 'path' && /^\.{1,2}$/.test(writeStyled(parameter, value))) return false;
  return pieces.every(
    (text) =>
      text !== '' && !UNWRITTEN[parameter.in].test(text) && !(separator?.test(text) ?? false),
  );
}

function piecesOf(value: unknown): string[] | null {
  if (isPlain(value)) return [String(value)];
  const inner = Array.isArray(value)
    ? value
    : isObject(value)
      ? Object.entries(value).flat()
      : [null];
  return inner.every(isPlain) ? inner.map(String) : null;
}

/** In a query or a cookie with its name or names. */
export function write(parameter: Parameter, value: unknown): string {
  if (parameter.document)
    return `${encodeURIComponent(parameter.name)}=${encodeURIComponent(JSON.stringify(value))}`;
  return writeStyled(parameter, value);
}

function writeStyled({ name, in: place, style, explode }: Parameter, value: unknown): string {
  const encode =
    place === 'header' ? String : (piece: unknown) => encodeURIComponent(String(piece));
  if (place === 'path' || place === 'header') {
    const [start, separator] = style === 'label' ? ['.', '.'] : ['', ','];
    return start + listed(value, encode, separator, explode);
  }
  const key = encodeURIComponent(name);
  if (style === 'deepObject')
    return Object.entries(value as Json)
      .map(([member, inner]) => `${key}[${encodeURIComponent(member)}]=${encode(inner)}`)
      .join('&');
  if (explode && Array.isArray(value))
    return value.map((entry) => `${key}=${encode(entry)}`).join('&');
  if (explode && isObject(value)) return listed(value, encode, '&', true);
  const separator = { spaceDelimited: '%20', pipeDelimited: '%7C' }[style] ?? ',';
  return `${key}=${listed(value, encode, separator, false)}`;
}

function listed(
  value: unknown,
  encode: (piece: unknown) => string,
  separator: string,
  explode: boolean,
): string {
  if (Array.isArray(value)) return value.map(encode).join(separator);
  if (!isObject(value)) return encode(value);
  const pairs = Object.entries(value).map(([name, inner]) => [encode(name), encode(inner)]);
  return pairs.map((pair) => pair.join(explode ? '=' : separator)).join(separator);
}
