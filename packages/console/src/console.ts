import { Content, type Page } from '../../pages/src/content.ts';
import { ASSET_HEADERS, pageHeaders } from '../../pages/src/headers.ts';
import { consoleAssets } from './files.ts';
import { renderPage } from './page.ts';

/** Where the console is on the admin listener: the page at the path with a slash behind it, all else below. */
export const CONSOLE_PATH = '/console';

const PAGE_PATH = `${CONSOLE_PATH}/`;
const TO_THE_PAGE: Page = { status: 308, headers: ['Location', PAGE_PATH], body: Buffer.alloc(0) };

/** Finds the page at a path for a request with these header fields, flat; `null` if there is none. */
export type Console = (path: string, asked: readonly string[]) => Promise<Page | null>;

/** The operators' console: one page and its files. All that it shows its scripts ask of the admin API. */
export function createConsole(): Console {
  const assets = consoleAssets(`${PAGE_PATH}assets/`);
  const { text, scriptHash } = renderPage(assets);
  const served = new Map<string, [content: Content, headers: readonly string[]]>();
  for (const [path, content] of assets.contents) served.set(path, [content, ASSET_HEADERS]);
  served.set(PAGE_PATH, [new Content('text/html', () => text), pageHeaders([scriptHash])]);
  return async (path, asked) => {
    if (path === CONSOLE_PATH) return TO_THE_PAGE;
    const [content, headers] = served.get(path) ?? [];
    return content && headers ? await content.page(asked, headers) : null;
  };
}
