import { stringify } from 'yaml';
import { entityTag } from '../../../src/common/entity-tag.ts';
import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../../../src/common/own-paths.ts';
import type { Exempted } from '../../openapi/src/contract.ts';
import { Document } from '../../openapi/src/document/document.ts';
import type { Json } from '../../openapi/src/document/source.ts';
import { toJson } from '../../openapi/src/exact-json.ts';
import { Content } from '../../pages/src/content.ts';
import { publish } from './publish.ts';
import { withUsage } from './usage.ts';

/** A text to be served, in UTF-8, and its entity tag. */
interface Written {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly tag: string;
}

/** The published contract. It keeps every digit of an int64. */
export interface Published {
  readonly json: Written;
  readonly yaml: Written;
}

/** Writes the contract of this document. It takes a second for a large one, which a process that serves has not got. */
export function writeDocuments(root: Readonly<Json>, exempted: readonly Exempted[]): Published {
  return bothForms(publish(withUsage(withoutOmitted(root, exempted))));
}

/** A contract in both forms in which it is served. */
export function bothForms(document: Json): Published {
  return {
    json: written(toJson(document)),
    yaml: written(stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })),
  };
}

function written(text: string): Written {
  const bytes = new TextEncoder().encode(text);
  return { bytes, tag: entityTag(bytes) };
}

/** Where a contract is published. */
export interface DocumentPaths {
  readonly json: string;
  readonly yaml: string;
}

/** The published contract by its path. */
export function publishedDocuments(
  { json, yaml }: Published,
  paths: DocumentPaths = { json: CONTRACT_JSON_PATH, yaml: CONTRACT_YAML_PATH },
): ReadonlyMap<string, Content> {
  return new Map([
    [paths.json, contentOf('application/json', json)],
    [paths.yaml, contentOf('application/yaml', yaml)],
  ]);
}

function contentOf(type: string, { bytes, tag }: Written): Content {
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
