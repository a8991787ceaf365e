import type { LiveRefused, RefusedRequest } from '@storegate/admin-api';
import { total } from '../../format.ts';

/** What is shown of refusals as they come. */
export interface Tail {
  /** Newest first. */
  readonly requests: readonly RefusedRequest[];
  /** How many came meanwhile that are not listed. */
  readonly left: number;
}

export const NO_TAIL: Tail = { requests: [], left: 0 };

/** Refusals that are shown at once. */
const MOST = 200;

/** With the requests that are not in it yet. */
export function withRefused(
  { requests, left }: Tail,
  more: Pick<LiveRefused, 'requests' | 'omitted'>,
): Tail {
  const known = new Set(requests.map(({ id }) => id));
  const all = [
    ...more.requests.filter(({ id }) => !known.has(id)),
    ...requests,
  ];
  const newest = all
    .sort((one, other) => Date.parse(other.at) - Date.parse(one.at))
    .slice(0, MOST);
  return { requests: newest, left: left + more.omitted };
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
