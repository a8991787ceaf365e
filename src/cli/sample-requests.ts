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

/** They pass the checks of the contract. */
export function sampleRequests(contract: Described): readonly SampleRequest[] {
  const document = new Document(contract.document as Json);
  const usable = contract.operations.filter(
    ({ method, deprecated, tryIt, requiredScopes }) =>
      method === 'GET' && !deprecated && tryIt && requiredScopes.length === 0,
  );
  const samples: SampleRequest[] = [];
  for (const operation of usable.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    const target = sampleOf(operation, document);
    const path = contract.prefixes
      .map((prefix) => prefix + target)
      .find((candidate) => isValid(contract, operation, candidate));
    if (path !== undefined)
      samples.push({ title: operation.summary || operation.id, path });
    if (samples.length === MAX) break;
  }
  return samples;
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
function sampleOf({ path }: Operation, document: Document): string {
  const parameters = parametersOf(path, document);
  const encoded = (place: string, name: string) => {
    const value = exampleOf(parameters.get(`${place} ${name}`), document);
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

function exampleOf(
  parameter: Json | undefined,
  document: Document,
): string | null {
  if (parameter === undefined) return null;
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
