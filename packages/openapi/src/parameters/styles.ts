/** OpenAPI 3.0.3, Parameter Object, "Style Values", without `matrix`, which no request can have. */
export type Style = 'label' | 'form' | 'simple' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

export type Form = 'primitive' | 'array' | 'object';

export const STYLES = {
  path: ['simple', 'label'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
} as const satisfies Record<string, readonly Style[]>;

export type Place = keyof typeof STYLES;

export const isExploded = (style: Style, explode: unknown): boolean =>
  style === 'deepObject' || (typeof explode === 'boolean' ? explode : style === 'form');

export interface Layout {
  readonly name: string;
  readonly style: Style;
  readonly explode: boolean;
  readonly form: Form;
  readonly encodedCommas?: boolean;
}

/** Still encoded. */
export type Pieces =
  | { readonly form: 'primitive'; readonly text: string }
  | { readonly form: 'array'; readonly texts: readonly string[] }
  | { readonly form: 'object'; readonly pairs: readonly (readonly [string, string])[] };

/**
 * Implements the table "Style Examples" of OpenAPI 3.0.3, without exploded form parameters and deep objects;
 * `style` if the text has another style.
 */
export function takeApart({ style, explode, form, encodedCommas }: Layout, raw: string): Pieces | 'style' {
  if (style === 'label') return raw.startsWith('.') ? split(raw.slice(1), '.', form, explode) : 'style';
  if (style === 'spaceDelimited') return split(raw, /%20|\+| /, form, false);
  if (style === 'pipeDelimited') return split(raw, /\||%7[Cc]/, form, false);
  return split(raw, encodedCommas ? /,|%2[Cc]/ : ',', form, explode && style === 'simple');
}

function split(text: string, separator: string | RegExp, form: Form, explode: boolean): Pieces | 'style' {
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
  for (let i = 0; i < texts.length; i += 2) pairs.push([texts[i]!, texts[i + 1]!]);
  return { form: 'object', pairs };
}

const EXAMPLES: Readonly<Record<Style, Readonly<Record<Form, readonly [plain: string, exploded: string]>>>> = {
  simple: { primitive: ['x', 'x'], array: ['x,y', 'x,y'], object: ['a,x,b,y', 'a=x,b=y'] },
  label: { primitive: ['.x', '.x'], array: ['.x.y', '.x.y'], object: ['.a.x.b.y', '.a=x.b=y'] },
  form: { primitive: ['N=x', 'N=x'], array: ['N=x,y', 'N=x&N=y'], object: ['N=a,x,b,y', 'a=x&b=y'] },
  spaceDelimited: { primitive: ['N=x', 'N=x'], array: ['N=x%20y', 'N=x&N=y'], object: ['N=a%20x%20b%20y', 'a=x&b=y'] },
  pipeDelimited: { primitive: ['N=x', 'N=x'], array: ['N=x|y', 'N=x&N=y'], object: ['N=a|x|b|y', 'a=x&b=y'] },
  deepObject: {
    primitive: ['N=x', 'N=x'],
    array: ['N[]=x&N[]=y', 'N[]=x&N[]=y'],
    object: ['N[a]=x&N[b]=y', 'N[a]=x&N[b]=y'],
  },
};

export const example = ({ name, style, form, explode }: Layout): string =>
  EXAMPLES[style][form][explode ? 1 : 0].replaceAll('N', name);
