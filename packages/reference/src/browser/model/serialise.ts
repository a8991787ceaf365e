import type { Styled } from './document.ts';

/** Scalars are text until they are sent, so that no digit is lost. */
export type Value =
  | string
  | readonly Value[]
  | { readonly [name: string]: Value };

type Encode = (text: string) => string;

const scalar = (value: Value): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** OpenAPI, "Style Examples": a list, or members as `R=100` if exploded, else `R`, `100`. */
function pieces(value: Value, explode: boolean, encode: Encode): string[] {
  if (typeof value === 'string') return [encode(value)];
  const text = (part: Value) => encode(scalar(part));
  if (Array.isArray(value)) return value.map(text);
  return Object.entries(value).flatMap(([name, part]) =>
    explode ? [`${encode(name)}=${text(part)}`] : [encode(name), text(part)],
  );
}

/** The segment of a path, in the style `simple` or `label`. */
export function inPath(
  { style, explode = false }: Styled,
  value: Value,
): string {
  const label = style === 'label';
  const parts = pieces(value, explode, encodeURIComponent);
  return label ? `.${parts.join('.')}` : parts.join();
}

export const inHeader = ({ explode = false }: Styled, value: Value): string =>
  pieces(value, explode, (text) => text).join();

const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: '%20',
  pipeDelimited: '%7C',
};

/** The pairs of a query, a form or a cookie, to be joined by `&`. */
export function inQuery(
  name: string,
  styled: Styled,
  value: Value,
): readonly string[] {
  const { style = 'form', explode = style === 'form', allowReserved } = styled;
  const encode = allowReserved ? encodeReserved : encodeURIComponent;
  const key = encodeURIComponent(name);
  if (style === 'deepObject') return deep(key, value, encode);
  if (typeof value === 'string') return [`${key}=${encode(value)}`];
  const parts = pieces(value, explode, encode);
  if (explode)
    return Array.isArray(value) ? parts.map((part) => `${key}=${part}`) : parts;
  return [`${key}=${parts.join(SEPARATORS[style] ?? ',')}`];
}

/** Leaves reserved characters of RFC 3986 that cannot end the value. */
const encodeReserved: Encode = (text) =>
  encodeURI(text).replace(/[&#+]/g, encodeURIComponent);

/** As qs, Rails and PHP write them: `a[b]=x`, `a[]=x` for a list, `a[b][0][c]=x` inside of one. */
function deep(key: string, value: Value, encode: Encode): string[] {
  if (typeof value === 'string') return [`${key}=${encode(value)}`];
  const isPlain =
    Array.isArray(value) && value.every((part) => typeof part === 'string');
  return Object.entries(value).flatMap(([name, part]) =>
    deep(
      `${key}%5B${isPlain ? '' : encodeURIComponent(name)}%5D`,
      part,
      encode,
    ),
  );
}
