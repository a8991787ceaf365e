import { createRequire } from 'node:module';
import {
  type Content,
  createContent,
  createSite,
  type FindPage,
  loadAssets,
} from '@storegate/pages';
import {
  type DocumentPaths,
  type Published,
  publishedDocuments,
} from './documents.ts';
import {
  type Branding,
  type ReferencePage,
  renderReferencePage,
} from './page/reference-page.ts';

const { resolve } = createRequire(import.meta.url);

/** In cascade order. */
const STYLES = ['page', 'guide', 'operations', 'narrow'];

export interface ReferenceOptions
  extends Omit<ReferencePage, 'paths' | 'branding'> {
  readonly published: Published;
  /** `page` has a trailing slash. */
  readonly paths: DocumentPaths & { readonly page: string };
  readonly branding?: Omit<Branding, 'logo'> & { readonly logo: Logo | null };
}

interface Logo {
  readonly type: string;
  /** In Base64. */
  readonly content: string;
}

/** As a document of its own, an SVG image could run scripts. */
const IMAGE_HEADERS = [
  'Content-Security-Policy',
  "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'X-Content-Type-Options',
  'nosniff',
];

function logoPage({ type, content }: Logo): Content {
  const image = createContent(type, () => Buffer.from(content, 'base64'));
  return (asked, own) => image(asked, [...own, ...IMAGE_HEADERS]);
}

export function createReference({
  published,
  paths,
  branding,
  ...content
}: ReferenceOptions): FindPage {
  const documents = new Map(publishedDocuments(published, paths));
  const logo = branding?.logo ?? null;
  const logoPath = `${paths.page}logo`;
  if (logo !== null) documents.set(logoPath, logoPage(logo));
  const shown = branding && {
    ...branding,
    logo: logo && { path: logoPath, type: logo.type },
  };
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
  const html = () =>
    renderReferencePage({ ...content, paths, branding: shown }, assets);
  return createSite({ path: paths.page, html, assets }, documents);
}
