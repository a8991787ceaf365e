import { Document, type Json } from '@storegate/openapi';
import type { Api } from '../config/config.ts';
import type { Contract, Operation } from '../config/contract/contract.ts';
import { shortList } from './output.ts';

type Limited = Pick<Api, 'http'>;

const MAX_NAMED = 5;

/** The setting wins over the limit that the contract has for an operation. */
export function bodyLimitNotes(
  { http }: Limited,
  { operations }: Pick<Contract, 'operations'>,
): string[] {
  return operations
    .filter(
      ({ maxBodyBytes, largestBody }) =>
        largestBody === null && (maxBodyBytes ?? 0) > http.maxBodyBytes,
    )
    .map(
      ({ id, method, path, maxBodyBytes }) =>
        `${id} (${method} ${path}): x-max-body-bytes ${maxBodyBytes} is above http.maxBodyBytes, ${http.maxBodyBytes} applies`,
    );
}

/** Also on bodies whose schema permits more, and files, of which a contract has no limit. */
export function bodyNotes(api: Limited, contract: Contract): string[] {
  const most = api.http.maxBodyBytes;
  const sizeOf = createSizes(new Document(contract.document));
  const sizes = contract.operations
    .filter((one) => one.maxBodyBytes === null && one.largestBody === null)
    .map((one) => ({ id: one.id, size: sizeOf(one) }));
  const named = (isMeant: (size: number) => boolean) =>
    shortList(
      sizes.filter(({ size }) => isMeant(size)).map(({ id }) => id),
      MAX_NAMED,
    );
  const files = named((size) => size === Number.POSITIVE_INFINITY);
  const large = named((size) => size > most && size < Number.POSITIVE_INFINITY);
  const advice = `may be above http.maxBodyBytes (${most}), and then get 413: set it, or operations.ID.maxBodyBytes`;
  return [
    ...bodyLimitNotes(api, contract),
    ...(files === '' ? [] : [`files as bodies of ${files} ${advice}`]),
    ...(large === '' ? [] : [`bodies of ${large} ${advice}`]),
  ];
}

/** Bytes that a body of an operation may have at least; infinite: it is a file, or has one. */
function createSizes(document: Document) {
  const sizes = new Map<object, number>();

  function sizeOf(node: unknown): number {
    const schema = document.object(node);
    if (schema === null) return 0;
    const cached = sizes.get(schema);
    if (cached !== undefined) return cached;
    // For a schema that contains itself.
    sizes.set(schema, 0);
    const { allOf } = schema;
    const parts = document.members(schema.properties).map(([, part]) => part);
    const all = [...parts, ...(Array.isArray(allOf) ? allOf : [])].map(sizeOf);
    const own = [sizeOfText(schema), sizeOfList(schema), ...all];
    const size = own.reduce((sum, one) => sum + one);
    sizes.set(schema, size);
    return size;
  }

  function sizeOfList({ items, maxItems }: Json): number {
    const one = sizeOf(items);
    if (one === 0 || one === Number.POSITIVE_INFINITY) return one;
    return typeof maxItems === 'number' ? maxItems * one : one;
  }

  return ({ path, method }: Operation): number => {
    const paths = document.object(document.root.paths);
    const item = document.object(paths?.[path]);
    const operation = document.object(item?.[method.toLowerCase()]);
    const body = document.object(operation?.requestBody);
    const all = document
      .members(body?.content)
      .map(([type, media]) =>
        /json|xml|text|form|multipart/i.test(type)
          ? sizeOf(document.object(media)?.schema)
          : Number.POSITIVE_INFINITY,
      );
    return Math.max(0, ...all);
  };
}

function sizeOfText({ maxLength, format, contentMediaType }: Json): number {
  if (typeof maxLength === 'number') return maxLength;
  const isFile = format === 'binary' || contentMediaType !== undefined;
  return isFile ? Number.POSITIVE_INFINITY : 0;
}
