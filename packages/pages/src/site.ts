import type { Assets } from './assets.ts';
import {
  type Content,
  createContent,
  type Page,
  type RequestFields,
} from './content.ts';

export type FindPage = (
  path: string,
  request: RequestFields,
) => Promise<Page | null>;

interface PageParts {
  /** With a trailing slash; a request without it is redirected. */
  readonly path: string;
  readonly html: () => string;
  readonly assets: Assets;
  /** A host besides its own that scripts may send requests to. */
  readonly host?: string | undefined;
}

/** By full path. With `null` for the page, only documents. */
export function createSite(
  page: PageParts | null,
  documents: Iterable<readonly [path: string, Content]> = [],
): FindPage {
  const served = new Map<
    string,
    readonly [content: Content, headers: readonly string[]]
  >();
  for (const [path, content] of documents)
    served.set(path, [content, REVALIDATE]);
  for (const [path, content] of page?.assets.contents ?? [])
    served.set(path, [content, ASSET_HEADERS]);
  if (page)
    served.set(page.path, [
      createContent('text/html', page.html),
      pageHeaders(page),
    ]);
  return async (path, request) => {
    if (page && `${path}/` === page.path)
      return {
        status: 308,
        headers: ['Location', page.path],
        body: Buffer.alloc(0),
      };
    const [content, headers] = served.get(path) ?? [];
    return content && headers ? await content(request, headers) : null;
  };
}

const REVALIDATE = ['Cache-Control', 'no-cache'];

/** The path of a file changes with its content. */
const ASSET_HEADERS = [
  'Cache-Control',
  'public, max-age=31536000, immutable',
  'X-Content-Type-Options',
  'nosniff',
];

/**
 * A page loads from its origin only, except data of `host`, and has nothing inline except scripts with these hashes
 * (`sha256-…`). CSP level 3 does not restrict the CSSOM, so `style-src` needs no exception.
 */
function pageHeaders({ assets, host }: PageParts): readonly string[] {
  const hashes = assets.scripts.map((hash) => `'${hash}'`);
  const scriptSources = ["'self'", ...hashes].join(' ');
  const connectSources = host === undefined ? "'self'" : `'self' ${host}:*`;
  return [
    ...REVALIDATE,
    'Content-Security-Policy',
    `default-src 'none'; script-src ${scriptSources}; style-src 'self'; img-src 'self' data:; connect-src ${connectSources}; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'Referrer-Policy',
    'no-referrer',
    'X-Content-Type-Options',
    'nosniff',
    'Cross-Origin-Opener-Policy',
    'same-origin',
  ];
}
