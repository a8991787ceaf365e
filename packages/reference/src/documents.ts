import { Document, type Exempted, type Json, toJson } from '@storegate/openapi';
import { Content, entityTag } from '@storegate/pages';
import { stringify } from 'yaml';
import { publish } from './publish.ts';

/** A text to be served, in UTF-8, and its entity tag. */
interface ServedText {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** The published contract. It keeps every digit of an int64. */
export interface Published {
  readonly json: ServedText;
  readonly yaml: ServedText;
}

/** Writes the published form of a document. It takes a second for a large document, longer than a process that serves may wait. */
export function writeDocuments(root: Readonly<Json>, exempted: readonly Exempted[]): Published {
  return bothForms(publish(withoutOmitted(root, exempted)));
}

/** A contract in both forms in which it is served. */
export function bothForms(document: Json): Published {
  return {
    json: servedText(toJson(document)),
    yaml: servedText(stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })),
  };
}

function servedText(text: string): ServedText {
  const bytes = new TextEncoder().encode(text);
  return { bytes, tag: entityTag(bytes) };
}

/** Where a contract is published. */
export interface DocumentPaths {
  readonly json: string;
  readonly yaml: string;
}

/** The published contract by its path. */
export function publishedDocuments({ json, yaml }: Published, paths: DocumentPaths): ReadonlyMap<string, Content> {
  return new Map([
    [paths.json, contentOf('application/json', json)],
    [paths.yaml, contentOf('application/yaml', yaml)],
  ]);
}

function contentOf(type: string, { bytes, tag }: ServedText): Content {
  return new Content(type, () => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), tag);
}

/** The document without the operations that do not exist because of mistakes in them. */
function withoutOmitted(root: Readonly<Json>, exempted: readonly Exempted[]): Readonly<Json> {
  if (exempted.length === 0) return root;
  const document = new Document(root);
  const paths = { ...(root.paths as Json) };
  for (const { path, method, treatment } of exempted) {
    if (treatment !== 'omit') continue;
    const { [method.toLowerCase()]: _, ...rest } = document.object(paths[path]) ?? {};
    paths[path] = rest;
  }
  return { ...root, paths };
}
