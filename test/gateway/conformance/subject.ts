export type Json = { readonly [name: string]: unknown };

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

export interface Case {
  readonly group: string;
  readonly name: string;
  readonly valid: boolean;
  readonly source: string;
  readonly request: Request;
}

export interface Subject {
  readonly paths: Readonly<Record<string, Json>>;
  readonly schemas?: Readonly<Record<string, Json>>;
  readonly cases: readonly Case[];
}

/** The text to send, or a name and the text. */
export type Sent = string | readonly [name: string, text: string];

const RESPONSES = { 200: { description: 'Done.' } };

const pairOf = (sent: Sent): readonly [string, string] =>
  typeof sent === 'string' ? [sent, sent] : sent;

interface Lists {
  readonly source: string;
  readonly good: readonly Sent[];
  readonly bad: readonly Sent[];
}

function casesOf(
  group: string,
  { source, good, bad }: Lists,
  request: (text: string) => Request,
  about = '',
): Case[] {
  const list = (all: readonly Sent[], valid: boolean) =>
    all.map(pairOf).map(([name, text]) => ({
      group,
      name: `${about}${about && ': '}${name === '' ? '(nothing)' : name}`,
      valid,
      source,
      request: request(text),
    }));
  return [...list(good, true), ...list(bad, false)];
}

let count = 0;

/** `text` is the whole query, the segment, the header value or the whole `Cookie`. */
export function parameter(
  group: string,
  node: Json & { readonly in: string },
  lists: Lists,
): Subject {
  const path = `/parameter${count++}`;
  const { in: place, style, explode, schema } = node as Json & { readonly schema?: Json };
  const template = place === 'path' ? `${path}/{p}` : path;
  const described = { name: place === 'header' ? 'X-P' : 'p', required: place === 'path', ...node };
  const operation = { parameters: [described], responses: RESPONSES };
  const request = (text: string): Request => {
    const target =
      place === 'path'
        ? `${path}/${text}`
        : place === 'query' && text !== ''
          ? `${path}?${text}`
          : path;
    const name = place === 'header' ? 'X-P' : 'Cookie';
    const isHeader = (place === 'header' || place === 'cookie') && text !== '';
    return { method: 'GET', target, ...(isHeader && { headers: { [name]: text } }) };
  };
  const about = [place, style, explode === undefined ? '' : `explode: ${explode}`, schema?.type]
    .filter(Boolean)
    .join(' ');
  return {
    paths: { [template]: { get: operation } },
    cases: casesOf(group, lists, request, about),
  };
}

export function json(
  group: string,
  schema: Json,
  lists: Lists,
  schemas: Readonly<Record<string, Json>> = {},
): Subject {
  return { ...body(group, { 'application/json': { schema } }, 'application/json', lists), schemas };
}

export function body(
  group: string,
  content: Json,
  type: string,
  lists: Lists,
  required = true,
): Subject {
  const path = `/body${count++}`;
  const operation = { requestBody: { required, content }, responses: RESPONSES };
  const request = (text: string): Request => ({
    method: 'POST',
    target: path,
    ...(text !== '' && { headers: { 'Content-Type': type }, body: text }),
  });
  return { paths: { [path]: { post: operation } }, cases: casesOf(group, lists, request) };
}

export function mediaType(content: Json, text: string, lists: Lists): Subject {
  const path = `/media${count++}`;
  const operation = { requestBody: { required: true, content }, responses: RESPONSES };
  const request = (type: string): Request => ({
    method: 'POST',
    target: path,
    headers: { 'Content-Type': type },
    body: text,
  });
  return { paths: { [path]: { post: operation } }, cases: casesOf('media types', lists, request) };
}

export function written(
  group: string,
  paths: Readonly<Record<string, Json>>,
  cases: readonly (readonly [name: string, valid: boolean, source: string, request: Request])[],
): Subject {
  return {
    paths,
    cases: cases.map(([name, valid, source, request]) => ({ group, name, valid, source, request })),
  };
}

export const operation = (more: Json = {}): Json => ({ ...more, responses: RESPONSES });
