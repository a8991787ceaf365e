import { stringify } from 'yaml';
import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH } from '../common/own-paths.ts';
import type { Contract } from '../contract/contract.ts';
import { Content } from './content.ts';
import { publish } from './publish.ts';
import { withUsage } from './usage.ts';

/** The published contract by its path. It keeps every digit of an int64. */
export function publishedDocuments(contract: Contract): ReadonlyMap<string, Content> {
  const document = publish(withUsage(contract.document));
  const yaml = () => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  return new Map([
    [CONTRACT_JSON_PATH, new Content('application/json', () => JSON.stringify(document, exactly))],
    [CONTRACT_YAML_PATH, new Content('application/yaml', yaml)],
  ]);
}

/** JSON.stringify cannot write a bigint by itself. */
const exactly = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
