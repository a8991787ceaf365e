import { existsSync } from 'node:fs';
import * as openapi from '@storegate/openapi';
import { deepFreeze } from '../../common/freeze.ts';
import { NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import type { OperationSettings } from '../config.ts';
import { UNCHECKED_BODY } from './field-names.ts';
import {
  type ContractFields,
  gatewayFields,
  type OperationFields,
} from './fields.ts';
import { isFile, NO_CONTRACT } from './place.ts';

export type Contract = openapi.Contract<OperationFields, ContractFields>;
export type ReadContract = openapi.ReadContract<
  OperationFields,
  ContractFields
>;
export type Operation = openapi.Operation & OperationFields;
export type Compiled = openapi.Compiled<OperationFields, ContractFields>;
export type Serialized = openapi.Serialized<OperationFields, ContractFields>;

const EMPTY = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'No contract: requests are not validated', version: 'none' },
  paths: {},
});

/** As `checkContract`. */
export function loadContract(
  file: string,
  reading: openapi.ContractOptions = {},
  namedBy?: string,
): ReadContract {
  const { compiled, notes } = checkContract(file, reading, namedBy);
  return Object.assign(openapi.atOnce(createContract(compiled)), { notes });
}

/**
 * `namedBy`: the setting or variable with the path. `settings`: of its operations. Throws
 * ContractError with every mistake.
 */
export function checkContract(
  file: string,
  reading: openapi.ContractOptions = {},
  namedBy = 'contract.file',
  settings: OperationSettings = {},
) {
  if (isFile(file) && reading.text === undefined && !existsSync(file))
    throw new openapi.ContractError([
      { file, place: '', message: `does not exist; correct ${namedBy}` },
    ]);
  return openapi.checkContract(file, {
    ...openapi.readingOptionsOf(reading),
    text: file === NO_CONTRACT ? EMPTY : reading.text,
    extensions: gatewayFields(settings),
    uncheckedBodyField: UNCHECKED_BODY,
  });
}

/** Like `createContract` of the package, in steps. */
export function* createContract(compiled: Compiled): Generator<void, Contract> {
  const lists = new Map<string, Scopes>();
  const operations = compiled.operations.map((operation) => ({
    ...operation,
    scopes: listOf(operation.scopes, lists),
  }));
  return yield* openapi.createContract({
    ...compiled,
    operations,
    shared: deepFreeze(compiled.shared),
  });
}

export function* deserialize(
  serialized: Serialized,
): Generator<void, Contract> {
  return yield* createContract(yield* openapi.deserialize(serialized));
}

/** Counters compare lists by identity. */
function listOf(scopes: Scopes, cache: Map<string, Scopes>): Scopes {
  if (scopes.length === 0) return NO_SCOPES;
  const key = scopes.join();
  const list = cache.get(key) ?? Object.freeze(scopes);
  cache.set(key, list);
  return list;
}
