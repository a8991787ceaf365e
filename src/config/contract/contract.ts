import { existsSync } from 'node:fs';
import * as openapi from '@storegate/openapi';
import { deepFreeze } from '../../common/freeze.ts';
import { inApi, NO_SCOPES, type Scopes } from '../../limits/scopes.ts';
import type { OperationSettings } from '../config.ts';
import { UNCHECKED_BODY } from './field-names.ts';
import {
  type ContractFields,
  gatewayFields,
  type OperationFields,
} from './fields.ts';
import { isFile, NO_CONTRACT } from './place.ts';

export type Contract = openapi.Contract<OperationFields, ContractFields>;
/** What the contracts of all APIs have, with names that are unique among them. */
export type Contracts = Pick<
  Contract,
  | 'operations'
  | 'windows'
  | 'exempted'
  | 'fingerprint'
  | 'digests'
  | 'files'
  | 'title'
  | 'version'
>;

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

/** As `checkContract` and `createContract`. */
export function loadContract(
  file: string,
  reading: openapi.ContractOptions = {},
  namedBy?: string,
  api: string | null = null,
): ReadContract {
  const { compiled, notes } = checkContract(file, reading, namedBy);
  return Object.assign(openapi.atOnce(createContract(compiled, api)), {
    notes,
  });
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

/**
 * Like `createContract` of the package, in steps. Names of operations, and what counts for them,
 * begin with `api`, except those of the default API (`null`).
 */
export function* createContract(
  compiled: Compiled,
  api: string | null = null,
): Generator<void, Contract> {
  const lists = new Map<string, Scopes>();
  const operations = compiled.operations.map((operation) => ({
    ...operation,
    id: inApi(api, operation.id),
    scopes: listOf(
      operation.scopes.map((scope) => inApi(api, scope)),
      lists,
    ),
  }));
  const windows = compiled.shared.windows.map((window) => ({
    ...window,
    scope: inApi(api, window.scope!),
  }));
  return yield* openapi.createContract({
    ...compiled,
    operations,
    shared: deepFreeze({ ...compiled.shared, windows }),
  });
}

export function* deserialize(
  serialized: Serialized,
  api: string | null = null,
): Generator<void, Contract> {
  return yield* createContract(yield* openapi.deserialize(serialized), api);
}

/** Counters compare lists by identity. */
function listOf(scopes: Scopes, cache: Map<string, Scopes>): Scopes {
  if (scopes.length === 0) return NO_SCOPES;
  const key = scopes.join();
  const list = cache.get(key) ?? Object.freeze(scopes);
  cache.set(key, list);
  return list;
}
