import { Document, isObject, type Json, targetOf } from '@storegate/openapi';
import type { Contract, Operation } from '../config/contract/contract.ts';

interface SampleRequest {
  readonly title: string;
  readonly path: string;
}

const MAX = 3;

type Described = Pick<
  Contract,
  'operations' | 'document' | 'matchTarget' | 'prefixes'
>;

type ReadValue = (parameter: Json, document: Document) => string | null;

/** They pass the checks of the contract, with values that it has. */
export const sampleRequests = (
  contract: Described,
): readonly SampleRequest[] => [...samplesWith(valueIn, contract).take(MAX)];

/** `null` if no GET passes the checks of the contract, even with invented values. */
export function firstSample(contract: Described): SampleRequest | null {
  const [sample = null] = samplesWith(valueIn, contract).take(1);
  if (sample !== null) return sample;
  const [invented = null] = samplesWith(
    (parameter, document) =>
      valueIn(parameter, document) ?? inventedFor(parameter, document),
    contract,
  ).take(1);
  return invented;
}

function* samplesWith(
  readValue: ReadValue,
  contract: Described,
): Generator<SampleRequest> {
  const document = new Document(contract.document as Json);
  const usable = contract.operations.filter(
    ({ method, deprecated, tryIt, requiredScopes }) =>
      method === 'GET' && !deprecated && tryIt && requiredScopes.length === 0,
  );
  for (const operation of usable.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const target = sampleOf(operation, document, readValue);
    const path = contract.prefixes
      .map((prefix) => prefix + target)
      .find((candidate) => isValid(contract, operation, candidate));
    if (path !== undefined)
      yield { title: operation.summary || operation.id, path };
  }
}

/** Operations that need a key come first, then those without path parameters. */
const rankOf = ({ isPublic, path }: Operation) =>
  2 * Number(isPublic) + Number(path.includes('{'));

function isValid(
  contract: Described,
  operation: Operation,
  target: string,
): boolean {
  const read = targetOf(target);
  if ('message' in read) return false;
  const found = contract.matchTarget('GET', read);
  return (
    found.operation === operation &&
    found.parameters !== null &&
    operation.checkParameters(found.parameters, read.query, []).length === 0
  );
}

/** An unknown value stays a template. */
function sampleOf(
  { path }: Operation,
  document: Document,
  readValue: ReadValue,
): string {
  const parameters = parametersOf(path, document);
  const encoded = (place: string, name: string) => {
    const parameter = parameters.get(`${place} ${name}`);
    const value = parameter ? readValue(parameter, document) : null;
    return value === null ? null : encodeURIComponent(value);
  };
  const filled = path.replace(
    /\{([^{}]*)\}/g,
    (template, name: string) => encoded('path', name) ?? template,
  );
  const query = [...parameters.values()].flatMap(
    ({ in: place, required, name }) =>
      place === 'query' && required === true
        ? [
            `${encodeURIComponent(String(name))}=${encoded('query', String(name)) ?? ''}`,
          ]
        : [],
  );
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** By place and name; the operation's own parameters replace those of its path. */
function parametersOf(
  path: string,
  document: Document,
): ReadonlyMap<string, Json> {
  const item = document.object(
    isObject(document.root.paths) ? document.root.paths[path] : null,
  );
  const lists = [item?.parameters, document.object(item?.get)?.parameters];
  const all = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  const read = all
    .map((entry) => document.object(entry))
    .filter((parameter) => parameter !== null);
  return new Map(
    read.map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]),
  );
}

function valueIn(parameter: Json, document: Document): string | null {
  const [, named] = document.members(parameter.examples)[0] ?? [];
  const schema = document.object(parameter.schema) ?? {};
  const lists = [schema.examples, schema.enum].map((list) =>
    Array.isArray(list) ? list[0] : undefined,
  );
  const values = [
    parameter.example,
    document.object(named)?.value,
    schema.example,
    schema.default,
    ...lists,
  ];
  const value = values.find((one) =>
    ['string', 'number', 'bigint', 'boolean'].includes(typeof one),
  );
  return value === undefined || value === '' ? null : String(value);
}

const BY_FORMAT: ReadonlyMap<unknown, string> = new Map([
  ['date', '2026-01-31'],
  ['date-time', '2026-01-31T12:00:00Z'],
  ['email', 'user@example.com'],
  ['uuid', '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
]);

/** In characters, of an invented value. */
const LONGEST = 100;

/** It may violate other keywords of the schema. */
function inventedFor(parameter: Json, document: Document): string {
  const { type, format, minimum, minLength } =
    document.object(parameter.schema) ?? {};
  const types = [type].flat();
  if (types.includes('integer') || types.includes('number'))
    return String(minimum ?? 1);
  if (types.includes('boolean')) return 'true';
  const length = Math.min(Math.max(1, Number(minLength ?? 1)), LONGEST);
  return BY_FORMAT.get(format) ?? 'a'.repeat(length);
}
