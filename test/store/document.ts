import { fileURLToPath } from 'node:url';
import { loadContract, type Operation } from '@storegate/openapi';

export const contract = loadContract(
  fileURLToPath(new URL('../../config/openapi.yaml', import.meta.url)),
);

export type Part = Readonly<Record<string, unknown>>;

/** Follows references. */
export function lookUp(...keys: readonly string[]): Part {
  return keys.reduce((at, key) => follow(at[key] as Part), contract.document as Part);
}

export function follow(part: Part): Part {
  return typeof part.$ref === 'string' ? lookUp(...part.$ref.slice(2).split('/')) : part;
}

export function lookUpOperation({ path, method }: Operation, ...keys: readonly string[]): Part {
  return lookUp('paths', path, method.toLowerCase(), ...keys);
}
