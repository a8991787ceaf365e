import { CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH } from '../../../src/common/own-paths.ts';
import type { Plans } from '../../../src/limits/plans.ts';
import type { Contract } from '../../openapi/src/contract.ts';
import { Content, type Page } from '../../pages/src/content.ts';
import { ASSET_HEADERS, pageHeaders, REVALIDATE } from '../../pages/src/headers.ts';
import { type Published, publishedDocuments } from './documents.ts';
import { referenceAssets } from './files.ts';
import { renderClientsPage } from './page/for-clients.ts';

const PAGE_PATH = `${REFERENCE_PATH}/`;

/** The paths that `createReference` has pages for; a path that ends in `/` is a prefix. */
export const REFERENCE_PATHS = [CONTRACT_JSON_PATH, CONTRACT_YAML_PATH, REFERENCE_PATH, PAGE_PATH];

export interface ReferenceOptions {
  /** `false` leaves the page out, but not the contract. */
  readonly page: boolean;
  /** The page shows their limits and the ban ladder, but no limits of single accounts. */
  readonly plans: Plans;
}

const TO_THE_PAGE: Page = { status: 308, headers: ['Location', PAGE_PATH], body: Buffer.alloc(0) };

/** Finds the page at a path for a request with these headers; `null` if there is none. */
export type Reference = (path: string, asked: readonly string[]) => Promise<Page | null>;

/** The published contract, and the page for callers drawn from it. */
export function createReference(
  contract: Contract,
  published: Published,
  { page, plans }: ReferenceOptions,
): Reference {
  const served = new Map<string, [content: Content, headers: readonly string[]]>();
  for (const [path, content] of publishedDocuments(published)) served.set(path, [content, REVALIDATE]);
  if (page) {
    const assets = referenceAssets(`${PAGE_PATH}assets/`, 'clients');
    for (const [path, content] of assets.contents) served.set(path, [content, ASSET_HEADERS]);
    served.set(PAGE_PATH, [new Content('text/html', () => renderClientsPage(contract, plans, assets)), pageHeaders()]);
  }
  return async (path, asked) => {
    if (page && path === REFERENCE_PATH) return TO_THE_PAGE;
    const [content, headers] = served.get(path) ?? [];
    return content && headers ? await content.page(asked, headers) : null;
  };
}
