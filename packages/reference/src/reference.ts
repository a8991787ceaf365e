import { createRequire } from 'node:module';
import {
  type Assets,
  type Content,
  createContent,
  createSite,
  type FindPage,
  html,
  loadAssets,
} from '@storegate/pages';
import {
  type DocumentPaths,
  type OwnHost,
  type Published,
  publishedDocuments,
} from './documents.ts';
import {
  type Branding,
  type ErrorText,
  errorsSection,
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
  /** Of its files; it may be shared. By default below the page. */
  readonly assets?: string;
  /** `null`: the host of the page. */
  readonly own?: OwnHost | null;
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
  own = null,
  assets: prefix = `${paths.page}assets/`,
  ...content
}: ReferenceOptions): FindPage {
  const documents = new Map(publishedDocuments(published, paths, own));
  const logo = branding?.logo ?? null;
  const logoPath = `${paths.page}logo`;
  if (logo !== null) documents.set(logoPath, logoPage(logo));
  const shown = branding && {
    ...branding,
    logo: logo && { path: logoPath, type: logo.type },
  };
  const assets = assetsAt(prefix);
  const page = () =>
    renderReferencePage({ ...content, paths, branding: shown }, assets);
  return createSite(
    { path: paths.page, html: page, assets, host: own?.host },
    documents,
  );
}

function assetsAt(prefix: string): Assets {
  const packages = ['preact', 'preact/hooks', 'marked'].map((name) => [
    name,
    resolve(name),
  ]);
  return loadAssets(prefix, import.meta.dirname, STYLES, {
    files: Object.fromEntries(packages),
  });
}

interface ListedReference {
  readonly name: string;
  readonly title: string;
  readonly paths: ReferenceOptions['paths'];
  readonly find: FindPage;
}

/**
 * The references of several contracts, and a list of them with the errors of the gateway at `path`,
 * which ends in a slash.
 */
export function createReferences(
  path: string,
  references: readonly ListedReference[],
  errors: readonly ErrorText[],
): FindPage {
  const assets = assetsAt(`${path}assets/`);
  const links = references.map(
    ({ title, name, paths }) =>
      html`<li><a href="${paths.page}">${title}</a> <span class="version">${name}</span></li>\n`,
  );
  const page = () =>
    html`<!doctype html>
<html lang="en">
${assets.head('API references')}
<body>
<main id="content">
<h1>API references</h1>
<ul>
${links}</ul>
${errorsSection(errors)}
</main>
</body>
</html>
`.text;
  const list = createSite({ path, html: page, assets });
  const isIn = (
    asked: string,
    { page, json, yaml }: ListedReference['paths'],
  ) => `${asked}/`.startsWith(page) || asked === json || asked === yaml;
  return (asked, request) =>
    (references.find(({ paths }) => isIn(asked, paths))?.find ?? list)(
      asked,
      request,
    );
}
