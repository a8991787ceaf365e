import type { RefusedRequest, Requests } from '@storegate/admin-api';
import { total } from '../../format.ts';

/** What is shown of refusals as they come. */
export interface Tail {
  /** Newest first. */
  readonly requests: readonly RefusedRequest[];
  /** Of the page with which it began. */
  readonly next: string | null;
  /** Whether some that came meanwhile are not listed. */
  readonly isCut: boolean;
}

/** Refusals that are shown at once. */
const MOST = 200;

type Page = Pick<Requests, 'requests' | 'next'>;

/** With the requests of a poll that are not in it yet; `null`: the page is the first. */
export function withRefused(tail: Tail | null, page: Page): Tail {
  if (tail === null) return { ...page, isCut: false };
  const ids = new Set(tail.requests.map(({ id }) => id));
  const all = [
    ...page.requests.filter(({ id }) => !ids.has(id)),
    ...tail.requests,
  ];
  const requests = all
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
    .slice(0, MOST);
  return { ...tail, requests, isCut: tail.isCut || page.next !== null };
}

/** Refusals that differ only in their time and id, each group newest first. */
export function groupsOf(
  requests: Tail['requests'],
): readonly Tail['requests'][] {
  const groups = Map.groupBy(
    requests,
    ({ status, code, method, operation, address, key }) =>
      JSON.stringify([
        status,
        code,
        method,
        operation,
        address,
        key?.id,
        key?.account,
      ]),
  );
  return [...groups.values()];
}

/** The gateway keeps only some identical refusals: each stands for those before it too. */
export const timesOf = (requests: Tail['requests']): number =>
  total(requests, ({ repeated }) => repeated + 1);
