import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Assets, BASE_STYLE, createSite, type FindPage, filesIn, loadAssets } from '@storegate/pages';
import { type DocumentPaths, type Published, publishedDocuments } from './documents.ts';
import { type ReferencePage, renderReferencePage } from './page/reference-page.ts';

const here = import.meta.dirname;
const { resolve } = createRequire(import.meta.url);

export interface ReferenceAssets extends Assets {
  readonly modules: readonly string[];
  /** Below `base`, in cascade order. */
  readonly styles: readonly string[];
}

const STYLES = ['page', 'guide', 'operations', 'details', 'answers', 'schemas'];

export function referenceAssets(prefix: string): ReferenceAssets {
  const entry = 'browser/main.ts';
  const modules = [entry, ...filesIn(here, 'browser', '.ts').filter((file) => file !== entry)];
  const styles = STYLES.map((name) => `styles/${name}.css`);
  const assets = loadAssets(prefix, [
    ...[...modules, ...styles].map((file) => [file, join(here, file)] as const),
    ['swagger-ui.js', resolve('swagger-ui-dist/swagger-ui-bundle.js')],
    ['swagger-ui.LICENSE.txt', resolve('swagger-ui-dist/LICENSE')],
  ]);
  return { ...assets, modules, styles: [BASE_STYLE, ...styles] };
}

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
