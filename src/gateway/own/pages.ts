import type { FindPage } from '@storegate/pages';
import type { OpenAddressWindow } from '../../common/clients/address-window.ts';
import type { Guard } from '../../common/clients/guard.ts';
import { fieldIn } from '../../common/field-list.ts';
import { MINUTE } from '../../common/time.ts';
import type { Window } from '../../limits/limits.ts';
import type { Exchange } from '../exchange.ts';
import type { Reply } from '../reply/reply.ts';
import type { Target } from '../results.ts';
import { methodNotAllowed, notFound, windowUsedUp } from '../route-refusals.ts';
import { portOf, schemeOf } from '../wire/origin.ts';

/** Units per address: a hundred people may share an address. */
const ALLOWANCE: Window = {
  name: 'pages',
  kind: 'fixed',
  limit: 6_000,
  span: MINUTE,
};
const PIECE = 64 * 1024;

export type Pages = ReturnType<typeof createPages>;

interface PagesOptions {
  readonly find: FindPage;
  /** Exact paths, or prefixes that end in `/`. */
  readonly paths: readonly string[];
  readonly home: string | null;
  readonly guard: Guard;
  readonly openAddressWindow: OpenAddressWindow;
  readonly reply: Reply;
}

export function createPages({
  find,
  paths,
  home,
  guard,
  openAddressWindow,
  reply,
}: PagesOptions) {
  const exact = new Set(paths.filter((path) => !path.endsWith('/')));
  const prefixes = paths.filter((path) => path.endsWith('/'));
  const allowance = openAddressWindow(ALLOWANCE);

  /** Pages need no key. */
  async function spend(exchange: Exchange, units: number) {
    const usage = await allowance.take(exchange.address, units);
    if (!usage.exhausted) return null;
    return windowUsedUp(
      exchange,
      usage,
      'Too many page requests from this IP address: wait for Retry-After. API requests are not affected.',
    );
  }

  return {
    has: (path: string, exchange: Exchange): boolean =>
      exact.has(path) ||
      prefixes.some((prefix) => path.startsWith(prefix)) ||
      (path === '/' && home !== null && isBrowser(exchange)),
    /** Refuses a request over the allowance before looking for a page. */
    async serve(exchange: Exchange, { path }: Target): Promise<void> {
      exchange.route = 'reference';
      const refusal = await spend(exchange, 1);
      if (refusal) return await reply.fail(exchange, refusal);
      exchange.usage = await guard.look(exchange.address);
      const { method, fields } = exchange.call;
      if (method !== 'GET' && method !== 'HEAD')
        throw methodNotAllowed(exchange, path, ['GET', 'HEAD']);
      if (path === '/')
        return await reply.send(exchange, 302, ['Location', home!], '');
      const page = await find(path, {
        ifNoneMatch: fieldIn(fields.list, 'if-none-match'),
        acceptEncoding: fieldIn(fields.list, 'accept-encoding'),
        scheme: schemeOf(exchange),
        port: portOf(exchange),
      });
      if (!page) throw notFound(exchange, path, null);
      const pieces =
        method === 'HEAD' ? 0 : Math.floor(page.body.length / PIECE);
      const late = pieces > 0 ? await spend(exchange, pieces) : null;
      if (late) return await reply.fail(exchange, late);
      await reply.send(exchange, page.status, page.headers, page.body);
    },
  };
}

/** Browsers request HTML; programs keep getting what the contract describes. */
function isBrowser({ call: { method, fields } }: Exchange): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    fieldIn(fields.list, 'accept')?.includes('text/html') === true
  );
}
