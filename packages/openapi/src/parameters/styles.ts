import type { Steps } from '../slices.ts';

/** OpenAPI 3.0.3, Parameter Object, "Style Values", without `matrix`, which no request can have. */
export type Style =
  | 'label'
  | 'form'
  | 'simple'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'deepObject';

export type Form = 'primitive' | 'array' | 'object';

export const STYLES = {
  path: ['simple', 'label'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies Record<string, readonly Style[]>;

export type Place = keyof typeof STYLES;

export const isExploded = (style: Style, explode: unknown): boolean =>
  style === 'deepObject' ||
  (typeof explode === 'boolean' ? explode : style === 'form');

export interface Layout {
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  readonly form: Form;
  readonly encodedCommas?: boolean;
}

/** `a[b][c]=text` has the path `['b', 'c']`; the text is still encoded. */
export type DeepEntry = readonly [path: readonly string[], text: string];

/** Still encoded. */
export type Pieces =
  | { readonly form: 'primitive'; readonly text: string }
  | { readonly form: 'array'; readonly texts: readonly string[] }
  | {
      readonly form: 'object';
      readonly pairs: readonly (readonly [string, string])[];
    }
  | { readonly form: 'deep'; readonly entries: readonly DeepEntry[] };

/**
 * Implements the table "Style Examples" of OpenAPI 3.0.3, without exploded form parameters and deep
 * objects; `style` if the text has another style.
 */
export function takeApart(
  { style, explode, form, encodedCommas }: Layout,
  raw: string,
): Pieces | 'style' {
  if (style === 'label')
    return raw.startsWith('.')
      ? split(raw.slice(1), '.', form, explode)
      : 'style';
  return split(
    raw,
    separatorOf(style, encodedCommas),
    form,
    explode && style === 'simple',
  );
}

function separatorOf(
  style: Style,
  encodedCommas: boolean | undefined,
): RegExp | ',' {
  if (style === 'spaceDelimited') return /%20|\+| /;
  if (style === 'pipeDelimited') return /\||%7[Cc]/;
  return encodedCommas ? /,|%2[Cc]/ : ',';
}

/** In entries: less than a millisecond. */
const STEP = 1_000;

/** `takeApart` in steps, for a list that is not written as a label. */
export function* takeListApart(
  { style, encodedCommas }: Layout,
  raw: string,
): Steps<Pieces> {
  const separator = new RegExp(separatorOf(style, encodedCommas), 'g');
  const texts: string[] = [];
  let start = 0;
  for (let found = separator.exec(raw); found; found = separator.exec(raw)) {
    texts.push(raw.slice(start, found.index));
    start = separator.lastIndex;
    if (texts.length % STEP === 0) yield;
  }
  texts.push(raw.slice(start));
  return { form: 'array', texts };
}

function split(
  text: string,
  separator: string | RegExp,
  form: Form,
  explode: boolean,
): Pieces | 'style' {
  if (form === 'primitive') return { form, text };
  const texts = text === '' ? [] : text.split(separator);
  if (form === 'array') return { form, texts };
  return explode ? equations(texts) : alternating(texts);
}

/** `R=100`, `G=200`. */
function equations(texts: readonly string[]): Pieces | 'style' {
  const pairs: [string, string][] = [];
  for (const text of texts) {
    const equals = text.indexOf('=');
    if (equals < 0) return 'style';
    pairs.push([text.slice(0, equals), text.slice(equals + 1)]);
  }
  return { form: 'object', pairs };
}

/** `R`, `100`, `G`, `200`. */
function alternating(texts: readonly string[]): Pieces | 'style' {
  if (texts.length % 2 === 1) return 'style';
  const pairs: [string, string][] = [];
  for (let i = 0; i < texts.length; i += 2)
    pairs.push([texts[i]!, texts[i + 1]!]);
  return { form: 'object', pairs };
}

const SEPARATORS: Readonly<Record<Style, string>> = {
  simple: ',',
  label: '.',
  form: ',',
  spaceDelimited: '%20',
  pipeDelimited: '|',
  deepObject: '',
};

export function example({ name, style, form, explode }: Layout): string {
  const isList = form === 'array';
  if (style === 'deepObject' && form !== 'primitive')
    return isList ? `${name}[]=x&${name}[]=y` : `${name}[a]=x&${name}[b]=y`;
  const inQuery = style !== 'simple' && style !== 'label';
  if (inQuery && explode && form !== 'primitive')
    return isList ? `${name}=x&${name}=y` : 'a=x&b=y';
  const members = explode ? ['a=x', 'b=y'] : ['a', 'x', 'b', 'y'];
  const texts = { primitive: ['x'], array: ['x', 'y'], object: members }[form];
  const text = texts.join(SEPARATORS[style]);
  if (style === 'label') return `.${text}`;
  return inQuery ? `${name}=${text}` : text;
}
