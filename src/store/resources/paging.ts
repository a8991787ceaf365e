import { type Check, int64, int64Range, integer, text, Unfit, written } from '../checks.ts';
import { optional, type Values } from '../fields.ts';
import type { Reply, StoreRequest } from '../http/routes.ts';
import type { Page } from '../records/page.ts';

/** A cursor is the identifier of the first entry of the next page, written so that nobody computes with it. */
const cursor: Check<bigint> = (value) => {
  const id = Buffer.from(text(1, 64)(value), 'base64url').toString();
  if (!/^-?\d{1,19}$/.test(id) || toCursor(BigInt(id)) !== value) throw new Unfit('is not a cursor of this list');
  return int64(BigInt(id));
};

/** The query fields every list has. */
export const paging = { limit: optional(written(integer(1n, 100n))), cursor: optional(cursor) };

/**
 * Answers one page of a list and tells where the next one starts, if there is one. The body of a list is exactly an
 * array, so the next page is told in headers: `Link` (RFC 8288) and `X-Next-Cursor`.
 */
export function pageReply<T>(
  request: StoreRequest,
  { limit = 20n, cursor: from = int64Range.least }: Values<typeof paging>,
  list: (page: Page) => readonly T[],
  idOf: (entry: T) => bigint,
): Reply {
  // One entry more than asked for: it tells whether there is a next page, and where that starts.
  const entries = list({ from, size: limit + 1n });
  const next = entries[Number(limit)];
  if (next === undefined) return { status: 200, body: entries };
  return { status: 200, headers: nextPage(request, toCursor(idOf(next))), body: entries.slice(0, -1) };
}

function nextPage({ path, query }: StoreRequest, next: string): Record<string, string> {
  const following = new URLSearchParams(query);
  following.set('cursor', next);
  // Commas stay plain: the contract separates the values of `ids` by them, and an encoded one would be data.
  const target = `${path}?${following.toString().replaceAll('%2C', ',')}`;
  return { Link: `<${target}>; rel="next"`, 'X-Next-Cursor': next };
}

function toCursor(id: bigint): string {
  return Buffer.from(String(id)).toString('base64url');
}
