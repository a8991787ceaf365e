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
  readonly yaml: ServedText;
}

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
  return {
    json: servedText(toJson(document)),
    yaml: servedText(
      stringify(document, {
        aliasDuplicateObjects: false,
        lineWidth: 0,
        // Quotes `<<`, `yes` and `12:30`, which its readers take for something else.
        compat: 'yaml-1.1',
      }),
    ),
  };
}

function servedText(text: string): ServedText {
  const bytes = new TextEncoder().encode(text);
  return { bytes, tag: entityTag(bytes) };
}

export interface DocumentPaths {
  readonly json: string;
  readonly yaml: string;
}

export function publishedDocuments(
  { json, yaml }: Published,
  paths: DocumentPaths,
): ReadonlyMap<string, Content> {
  return new Map([
    [paths.json, contentOf('application/json', json)],
    [paths.yaml, contentOf('application/yaml', yaml)],
  ]);
}

function contentOf(type: string, { bytes, tag }: ServedText): Content {
  return createContent(
    type,
    () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    tag,
  );
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
