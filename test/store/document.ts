import { fileURLToPath } from 'node:url';
import { loadContract, type Operation } from '@storegate/openapi';

/** The contract of the store, as the gateway loads it. */
export const contract = loadContract(fileURLToPath(new URL('../../config/openapi.yaml', import.meta.url)));

/** An object of the document. */
export type Part = Readonly<Record<string, unknown>>;

/** The part of the document under these keys, through references. */
export function lookUp(...keys: readonly string[]): Part {
  return keys.reduce((at, key) => follow(at[key] as Part), contract.document as Part);
}

export function follow(part: Part): Part {
  return typeof part.$ref === 'string' ? lookUp(...part.$ref.slice(2).split('/')) : part;
}

/** The part of an operation in the document, under further keys. */
export function lookUpOperation({ path, method }: Operation, ...keys: readonly string[]): Part {
  return lookUp('paths', path, method.toLowerCase(), ...keys);
}
