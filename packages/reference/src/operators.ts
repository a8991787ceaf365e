import { type Contract, isObject, type Json } from '@storegate/openapi';
import { createSite, type FindPage } from '@storegate/pages';
import { bothForms, publishedDocuments } from './documents.ts';
import { referenceAssets } from './files.ts';
import type { ErrorWords } from './page/error-table.ts';
import { renderOperatorsPage } from './page/for-operators.ts';
import { publish } from './publish.ts';

export interface OperatorsReferenceOptions {
  /** Of the admin API. */
  readonly contract: Pick<Contract, 'title' | 'version' | 'operations' | 'document'>;
  /** Where the page is, with a slash at its end; all that it loads is below. */
  readonly prefix: string;
  /** Where the API answers who is signed in. */
  readonly api: string;
  /** Where the page leads back to. */
  readonly console: string;
  readonly errors: readonly ErrorWords[];
}

/** The reference of the admin API. Few open it, so nothing of it is read before somebody does. */
export function createOperatorsReference(options: OperatorsReferenceOptions): FindPage {
  const { prefix } = options;
  let find: FindPage | null = null;
  return async (path, asked) => {
    if (!`${path}/`.startsWith(prefix)) return null;
    find ??= open(options);
    return await find(path, asked);
  };
}

function open({ contract, prefix, api, console, errors }: OperatorsReferenceOptions): FindPage {
  const paths = { json: `${prefix}openapi.json`, yaml: `${prefix}openapi.yaml` };
  const published = bothForms(publish({ ...readsAlone(contract.document), servers: [{ url: api }] }));
  const assets = referenceAssets(`${prefix}assets/`, 'operators');
  const documents = [
    { href: paths.json, text: 'JSON' },
    { href: paths.yaml, text: 'YAML' },
  ] as const;
  const html = () => renderOperatorsPage({ contract, documents: [...documents], console, errors }, assets);
  return createSite({ path: prefix, html, assets }, publishedDocuments(published, paths));
}

/** A copy in which only what reads, and ends, can be tried. */
function readsAlone(document: Readonly<Json>): Json {
  const paths = Object.entries(document.paths as Json).map(([path, item]) => {
    const operations = Object.entries(item as Json).map(([method, operation]) => {
      const canBeTried = method === 'get' && !streams(operation);
      return [method, isObject(operation) && !canBeTried ? { ...operation, 'x-try-it': false } : operation];
    });
    return [path, Object.fromEntries(operations)];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Whether an operation answers events for as long as somebody listens, which the page would wait for. */
function streams(operation: unknown): boolean {
  return JSON.stringify(operation).includes('"text/event-stream"');
}
