import type { Assets } from './assets.ts';
import { Content, type Page, type RequestFields } from './content.ts';
import { ASSET_HEADERS, pageHeaders, REVALIDATE } from './headers.ts';

export type FindPage = (path: string, asked: RequestFields) => Promise<Page | null>;

export interface PageParts {
  /** With a trailing slash; a request without it is redirected. */
  readonly path: string;
  readonly html: () => string;
  readonly scripts?: readonly string[];
  readonly assets: Assets;
}

/** By full path. With `null` for the page, only documents. */
export function createSite(
  page: PageParts | null,
  documents: Iterable<readonly [path: string, Content]> = [],
): FindPage {
  const served = new Map<string, readonly [content: Content, headers: readonly string[]]>();
  for (const [path, content] of documents) served.set(path, [content, REVALIDATE]);
  for (const [path, content] of page?.assets.contents ?? []) served.set(path, [content, ASSET_HEADERS]);
  if (page) served.set(page.path, [new Content('text/html', page.html), pageHeaders(page.scripts)]);
  return async (path, asked) => {
    if (page && `${path}/` === page.path)
      return { status: 308, headers: ['Location', page.path], body: Buffer.alloc(0) };
    const [content, headers] = served.get(path) ?? [];
    return content && headers ? await content.page(asked, headers) : null;
  };
}
