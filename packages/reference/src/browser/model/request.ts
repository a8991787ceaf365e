import type { Api, Row } from './api.ts';
import type { Media, Parameter, Schema, SchemaNode } from './document.ts';
import { isJson, parseTexts } from './json-text.ts';
import { typesOf } from './schema.ts';
import { inHeader, inPath, inQuery, type Value } from './serialise.ts';

/** What is typed into the form of an operation. */
export interface Draft {
  /** By place and name, as `query limit`; empty if not sent. */
  readonly values: Readonly<Record<string, string>>;
  readonly mediaType: string | null;
  /** The fields of a form, by name. */
  readonly fields: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, readonly File[]>>;
  readonly text: string;
  /** The media type to ask for; `null`: any. */
  readonly accept: string | null;
}

export type Pair = readonly [name: string, value: string];

/** What secrets add to a request. */
export interface Credentials {
  readonly headers: readonly Pair[];
  readonly query: readonly Pair[];
  readonly cookies: readonly Pair[];
}

export interface OutgoingRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly Pair[];
  /** As in the header `Cookie`. */
  readonly cookies: readonly string[];
  readonly body:
    | string
    | File
    | readonly (readonly [name: string, value: string | File])[]
    | null;
}

export type BodyKind = 'text' | 'form' | 'multipart' | 'file';

export function bodyKind(mediaType: string): BodyKind {
  if (/^multipart\//i.test(mediaType)) return 'multipart';
  if (/urlencoded/i.test(mediaType)) return 'form';
  return /^text\/|json|xml|yaml|graphql/i.test(mediaType) ? 'text' : 'file';
}

export const keyOf = ({ in: place, name }: Parameter): string =>
  `${place} ${name}`;

export function requestOf(
  api: Api,
  row: Row,
  base: string,
  draft: Draft,
  credentials: Credentials,
): OutgoingRequest {
  const sent = api.parameters(row).flatMap((parameter) => {
    const text = draft.values[keyOf(parameter)] ?? '';
    if (text === '') return [];
    return [
      { parameter, value: readValue(api, parameter.schema, text, parameter) },
    ];
  });
  const of = (place: string) =>
    sent.filter(({ parameter }) => parameter.in === place);
  const path = of('path').reduce(
    (path, { parameter, value }) =>
      path.replace(`{${parameter.name}}`, () => inPath(parameter, value)),
    row.path,
  );
  const inPairs = (place: string) =>
    of(place).map(({ parameter, value }) =>
      inQuery(parameter.name, parameter, value),
    );
  const query = [
    ...inPairs('query').flat(),
    ...credentials.query.map(pair),
  ].join('&');
  const headers = of('header').map(
    ({ parameter, value }): Pair => [
      parameter.name,
      inHeader(parameter, value),
    ],
  );
  const body = bodyOf(api, row, draft);
  // The browser writes the boundary of multipart.
  const type =
    body === null || Array.isArray(body)
      ? []
      : [['Content-Type', draft.mediaType!] as const];
  const accept =
    draft.accept === null ? [] : [['Accept', draft.accept] as const];
  return {
    method: row.method,
    url: base + path + (query && `?${query}`),
    headers: [...credentials.headers, ...accept, ...type, ...headers],
    cookies: [
      ...inPairs('cookie').map((pairs) => pairs.join('&')),
      ...credentials.cookies.map(pair),
    ],
    body,
  };
}

const pair = ([name, value]: Pair): string => inQuery(name, {}, value)[0]!;

/**
 * Lists have a line for each item; objects, and lists of them, are JSON. Other text is sent as it
 * is, so that the gateway explains what is wrong with it.
 */
export function readValue(
  api: Api,
  node: SchemaNode | undefined,
  text: string,
  { content }: { readonly content?: unknown } = {},
): Value {
  if (content !== undefined) return text;
  const schema = api.schema(node);
  if (isList(api, schema))
    return text.split('\n').filter((line) => line !== '');
  return isStructured(schema) && isJson(text)
    ? (parseTexts(text) as Value)
    : text;
}

export const isStructured = (schema: Schema): boolean =>
  typesOf(schema).some((type) => type === 'object' || type === 'array');

export const isList = (api: Api, schema: Schema): boolean =>
  typesOf(schema).includes('array') && !isStructured(api.schema(schema.items));

function bodyOf(api: Api, row: Row, draft: Draft): OutgoingRequest['body'] {
  const { mediaType, fields, files, text } = draft;
  const media = api.body(row)?.content?.[mediaType ?? ''];
  if (media === undefined) return null;
  const { properties = {} } = api.schema(media.schema);
  const given = Object.entries(fields).filter(([, text]) => text !== '');
  switch (bodyKind(mediaType!)) {
    case 'text':
      return text || null;
    case 'file':
      return files['']?.[0] ?? null;
    case 'form':
      return given
        .flatMap(([name, text]) =>
          formPairs(api, name, properties[name], text, media),
        )
        .join('&');
    case 'multipart':
      return [
        ...given.flatMap(([name, text]) =>
          partsOf(api, properties[name], text).map(
            (part) => [name, part] as const,
          ),
        ),
        ...Object.entries(files).flatMap(([name, all]) =>
          all.map((file) => [name, file] as const),
        ),
      ];
  }
}

/** An object is JSON unless the document gives it a style. */
function formPairs(
  api: Api,
  name: string,
  node: SchemaNode | undefined,
  text: string,
  { encoding = {} }: Media,
): readonly string[] {
  const { style, explode } = encoding[name] ?? {};
  const isDocument =
    style === undefined &&
    explode === undefined &&
    !isList(api, api.schema(node));
  return inQuery(
    name,
    encoding[name] ?? {},
    isDocument ? text : readValue(api, node, text),
  );
}

function partsOf(
  api: Api,
  node: SchemaNode | undefined,
  text: string,
): readonly string[] {
  const value = isList(api, api.schema(node))
    ? readValue(api, node, text)
    : text;
  return typeof value === 'string' ? [value] : (value as readonly string[]);
}
