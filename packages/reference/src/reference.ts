import { createRequire } from 'node:module';
import { createSite, type FindPage, loadAssets } from '@storegate/pages';
import {
  type DocumentPaths,
  type Published,
  publishedDocuments,
} from './documents.ts';
import {
  type ReferencePage,
  renderReferencePage,
} from './page/reference-page.ts';

const { resolve } = createRequire(import.meta.url);

/** In cascade order. */
const STYLES = ['page', 'guide', 'operations', 'narrow'];

export interface ReferenceOptions extends Omit<ReferencePage, 'paths'> {
  readonly published: Published;
  /** `page` has a trailing slash. */
  readonly paths: DocumentPaths & { readonly page: string };
}

export function createReference({
  published,
  paths,
  ...content
}: ReferenceOptions): FindPage {
  const documents = publishedDocuments(published, paths);
  const packages = ['preact', 'preact/hooks', 'marked'].map((name) => [
    name,
    resolve(name),
  ]);
  const assets = loadAssets(
    `${paths.page}assets/`,
    import.meta.dirname,
    STYLES,
    {
      files: Object.fromEntries(packages),
    },
  );
  const html = () => renderReferencePage({ ...content, paths }, assets);
  return createSite({ path: paths.page, html, assets }, documents);
}
