import { stringify } from 'yaml';
import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../common/own-paths.ts';
import type { Contract } from '../contract/contract.ts';
import { Document } from '../contract/document/document.ts';
import type { Json } from '../contract/document/source.ts';
import { Content } from './content.ts';
import { publish } from './publish.ts';
import { withUsage } from './usage.ts';

/** The published contract by its path. It keeps every digit of an int64. */
export function publishedDocuments(contract: Contract): ReadonlyMap<string, Content> {
  const document = publish(withUsage(withoutOmitted(contract)));
  const yaml = () => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  return new Map([
    [CONTRACT_JSON_PATH, new Content('application/json', () => JSON.stringify(document, exactly))],
    [CONTRACT_YAML_PATH, new Content('application/yaml', yaml)],
  ]);
}

/** The document without the operations that do not exist because of mistakes in them. */
function withoutOmitted({ document, exempted }: Contract): Readonly<Json> {
  const paths = { ...(document.paths as Json) };
  for (const { path, method, treatment } of exempted) {
    if (treatment !== 'omit') continue;
    const { [method.toLowerCase()]: _, ...rest } = new Document(document).object(paths[path]) ?? {};
    paths[path] = rest;
  }
  return exempted.length === 0 ? document : { ...document, paths };
}

/** JSON.stringify cannot write a bigint by itself. */
const exactly = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
