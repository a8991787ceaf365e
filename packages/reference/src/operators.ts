import { type Contract, isObject, type Json } from '@storegate/openapi';
import type { FindPage } from '@storegate/pages';
import { writeDocuments } from './documents.ts';
import type { ErrorText } from './page/reference-page.ts';
import { createReference } from './reference.ts';

export interface OperatorsReferenceOptions {
  readonly contract: Pick<
    Contract,
    'title' | 'version' | 'operations' | 'document'
  >;
  /** With a trailing slash; all files are below. */
  readonly prefix: string;
  readonly api: string;
  readonly console: string;
  readonly errors: readonly ErrorText[];
}

/** Without a key field. Rarely opened, so everything is read on first use. */
export function createOperatorsReference(
  options: OperatorsReferenceOptions,
): FindPage {
  const { prefix } = options;
  let find: FindPage | null = null;
  return async (path, request) => {
    if (!`${path}/`.startsWith(prefix)) return null;
    find ??= open(options);
    return await find(path, request);
  };
}

function open({
  contract,
  prefix,
  api,
  console,
  errors,
}: OperatorsReferenceOptions): FindPage {
  const paths = {
    page: prefix,
    json: `${prefix}openapi.json`,
    yaml: `${prefix}openapi.yaml`,
  };
  const published = writeDocuments(
    { ...readsAlone(contract.document), servers: [{ url: api }] },
    [],
  );
  return createReference({
    contract,
    published,
    paths,
    readers: { console },
    errors,
  });
}

function readsAlone(document: Readonly<Json>): Json {
  const paths = Object.entries(document.paths as Json).map(([path, item]) => {
    const operations = Object.entries(item as Json).map(
      ([method, operation]) => {
        return [
          method,
          isObject(operation) && method !== 'get'
            ? { ...operation, 'x-try-it': false }
            : operation,
        ];
      },
    );
    return [path, Object.fromEntries(operations)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}
