import { Document, type Exempted, type Json, toJson } from '@storegate/openapi';
import { type Content, createContent, entityTag } from '@storegate/pages';
import { stringify } from 'yaml';
import { publish, type Replacements } from './publish.ts';

/** In UTF-8. */
interface ServedText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** Keeps every digit of an int64. */
export interface Published {
  readonly json: ServedText;
  /** `null`: it takes milliseconds, and is written at the first visit. */
  readonly yaml: ServedText | null;
}

/** In bytes of JSON. */
const SMALL = 64 * 1024;

/**
 * Takes a second for a large document, too long for a process that serves requests. `replacements`:
 * objects of the document, and what is published in their place.
 */
export function writeDocuments(
  root: Readonly<Json>,
  exempted: readonly Exempted[],
  replacements: Replacements = new Map(),
): Published {
  const document = publish(
    withoutOmitted(root, exempted, replacements),
    replacements,
  );
  const json = servedText(toJson(document));
  const isSmall = json.bytes.length <= SMALL;
  return { json, yaml: isSmall ? null : servedText(toYaml(document)) };
}

const toYaml = (document: unknown): string =>
  stringify(document, {
    aliasDuplicateObjects: false,
    lineWidth: 0,
    // Quotes `<<`, `yes` and `12:30`, which its readers take for something else.
    compat: 'yaml-1.1',
  });

function yamlOf({ json, yaml }: Published): Uint8Array<ArrayBuffer> {
  if (yaml !== null) return yaml.bytes;
  const document = JSON.parse(new TextDecoder().decode(json.bytes), exactly);
  return new TextEncoder().encode(toYaml(document));
}

/** Integers keep every digit. */
const exactly = (_name: string, value: unknown, { source = '' } = {}) =>
  Number.isInteger(value) && String(value) !== source && /^-?\d+$/.test(source)
    ? BigInt(source)
    : value;

function servedText(text: string): ServedText {
  const bytes = new TextEncoder().encode(text);
  return { bytes, tag: entityTag(bytes) };
}

export interface DocumentPaths {
  readonly json: string;
  readonly yaml: string;
}

/** Where an API is, at whatever host its documents are read. They lack `servers`. */
export interface OwnHost {
  readonly host: string;
  readonly serversAt: (origin: string) => readonly Json[];
}

export function publishedDocuments(
  published: Published,
  paths: DocumentPaths,
  own: OwnHost | null = null,
): ReadonlyMap<string, Content> {
  const { json, yaml } = published;
  if (own === null)
    return new Map([
      [paths.json, contentOf('application/json', () => json.bytes, json.tag)],
      [
        paths.yaml,
        contentOf('application/yaml', () => yamlOf(published), yaml?.tag),
      ],
    ]);
  const jsonAt = (servers: readonly Json[]) =>
    Buffer.concat([
      Buffer.from(`{"servers":${JSON.stringify(servers)},`),
      json.bytes.subarray(1),
    ]);
  const yamlAt = (servers: readonly Json[]) =>
    Buffer.concat([Buffer.from(stringify({ servers })), yamlOf(published)]);
  return new Map([
    [paths.json, contentAt(own, 'application/json', jsonAt)],
    [paths.yaml, contentAt(own, 'application/yaml', yamlAt)],
  ]);
}

/** With the scheme and port of the request. */
function contentAt(
  { host, serversAt }: OwnHost,
  type: string,
  make: (servers: readonly Json[]) => Buffer,
): Content {
  const known = new Map<string, Content>();
  const create = (origin: string) =>
    createContent(type, () => make(serversAt(origin)));
  return ({ scheme = 'http', port = '', ...request }, headers) => {
    const usual = `${scheme}://${host}`;
    const origin = URL.parse(usual + port)?.origin ?? usual;
    // Clients choose the port: compressing a document for each would be expensive.
    if (origin !== usual)
      return create(origin)({ ...request, acceptEncoding: '' }, headers);
    const content = known.get(origin) ?? create(origin);
    known.set(origin, content);
    return content(request, headers);
  };
}

function contentOf(
  type: string,
  read: () => Uint8Array<ArrayBuffer>,
  tag: string | null = null,
): Content {
  const make = () => {
    const { buffer, byteOffset, byteLength } = read();
    return Buffer.from(buffer, byteOffset, byteLength);
  };
  return createContent(type, make, tag);
}

function withoutOmitted(
  root: Readonly<Json>,
  exempted: readonly Exempted[],
  replacements: Replacements,
): Readonly<Json> {
  if (exempted.length === 0) return root;
  const document = new Document(root);
  const paths = { ...(root.paths as Json) };
  for (const { path, method, treatment } of exempted) {
    if (treatment !== 'omit') continue;
    const item = document.object(paths[path]) ?? {};
    const { [method.toLowerCase()]: _, ...rest } =
      replacements.get(item) ?? item;
    paths[path] = rest;
  }
  return { ...root, paths };
}
