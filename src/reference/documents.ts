import { stringify } from 'yaml';
import type { Contract } from '../contract/contract.ts';
import { Content } from './content.ts';
import { publish } from './publish.ts';
import { withUsage } from './usage.ts';

/** The published contract by the path it is served at. Every digit of an int64 is kept. */
export function publishedDocuments(contract: Contract): ReadonlyMap<string, Content> {
  const document = publish(withUsage(contract.document));
  const yaml = () => stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 });
  return new Map([
    ['/openapi.json', new Content('application/json', () => JSON.stringify(document, exactly))],
    ['/openapi.yaml', new Content('application/yaml', yaml)],
  ]);
}

/** JSON.stringify has no way of its own to write a bigint. */
const exactly = (_name: string, value: unknown): unknown =>
  typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
