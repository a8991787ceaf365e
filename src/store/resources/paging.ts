import { type Check, int64, int64Range, integer, text, Unfit, written } from '../checks.ts';
import { optional, type Values } from '../fields.ts';
import type { Reply, StoreRequest } from '../http/routes.ts';
import type { Page } from '../records/page.ts';

/** A cursor is the identifier of the first entry of the next page, encoded so that clients do not compute with it. */
const cursor: Check<bigint> = (value) => {
  const id = Buffer.from(text(1, 64)(value), 'base64url').toString();
  if (!/^-?\d{1,19}$/.test(id) || toCursor(BigInt(id)) !== value) throw new Unfit('is not a cursor of this list');
  return int64(BigInt(id));
};

/** The query fields of every list. */
export const paging = { limit: optional(written(integer(1n, 100n))), cursor: optional(cursor) };

/**
 * Answers one page of a list. The body of a list is exactly an array, so two headers point to the next page, if there
 * is one: `Link` (RFC 8288) and `X-Next-Cursor`.
 */
export function pageReply<T>(
  request: StoreRequest,
  { limit = 20n, cursor: from = int64Range.least }: Values<typeof paging>,
  list: (page: Page) => readonly T[],
  idOf: (entry: T) => bigint,
): Reply {
  // One extra entry shows whether there is a next page, and where it starts.
  const entries = list({ from, size: limit + 1n });
  const next = entries[Number(limit)];
  if (next === undefined) return { status: 200, body: entries };
  return { status: 200, headers: nextPage(request, toCursor(idOf(next))), body: entries.slice(0, -1) };
}

function nextPage({ path, query }: StoreRequest, next: string): Record<string, string> {
  const following = new URLSearchParams(query);
  following.set('cursor', next);
  // Commas stay plain: the contract separates the values of `ids` with them, and an encoded comma would be data.
  const target = `${path}?${following.toString().replaceAll('%2C', ',')}`;
  return { Link: `<${target}>; rel="next"`, 'X-Next-Cursor': next };
}

function toCursor(id: bigint): string {
  return Buffer.from(String(id)).toString('base64url');
}
