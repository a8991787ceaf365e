import { createSite, type FindPage } from '@storegate/pages';
import { type DocumentPaths, type Published, publishedDocuments } from './documents.ts';
import { referenceAssets } from './files.ts';
import { type ReferencePage, renderReferencePage } from './page/reference-page.ts';

export interface ReferenceOptions extends Omit<ReferencePage, 'paths'> {
  readonly published: Published;
  /** `page` has a trailing slash. */
  readonly paths: DocumentPaths & { readonly page: string };
  /** `false`: only the contract is published. */
  readonly page: boolean;
}

export function createReference({ published, paths, page, ...content }: ReferenceOptions): FindPage {
  const documents = publishedDocuments(published, paths);
  if (!page) return createSite(null, documents);
  const assets = referenceAssets(`${paths.page}assets/`);
  const html = () => renderReferencePage({ ...content, paths }, assets);
  return createSite({ path: paths.page, html, assets }, documents);
}
