import type { ClientRequest } from '@storegate/http1';
import type { Operation } from '../../config/contract/contract.ts';
import { DEFAULT_UPSTREAM, endsWithPath } from '../../config/upstreams.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import type { RequestFields } from '../upstream/headers.ts';
import type { StoreResponse } from '../upstream/store-response.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { sendUpstream } from '../upstream/upstream-request.ts';
import type { ReturnedNames } from '../wire/fields.ts';

/** Rejects with Outage or ClientAbort. */
export type Forward = (exchange: Exchange, checked: Checked) => Promise<StoreResponse>;

export type StorePath = (operation: Operation, path: string) => string;

export interface ForwardParts {
  readonly upstreamOf: (operation: Operation) => Upstream;
  readonly pathOf: StorePath;
  readonly observe: Observe;
  readonly requestFields: RequestFields;
  readonly returned: ReturnedNames;
  /** The gateway reads them. */
  readonly plainAnswers: boolean;
}

export function createForward(parts: ForwardParts): Forward {
  const { upstreamOf, pathOf, observe, requestFields, returned, plainAnswers } = parts;
  return function forward(exchange, { client, target: { path: asked, query }, operation, body }) {
    const path = pathOf(operation, asked);
    const question: ClientRequest = {
      method: exchange.call.method,
      target: query === '' ? path : `${path}?${query}`,
      fields: requestFields(exchange, client, plainAnswers),
      body,
    };
    exchange.forwardedAt = performance.now();
    return sendUpstream({ upstream: upstreamOf(operation), observe, returned, exchange, asked: question });
  };
}

/**
 * A backend whose URL ends with a prefix already has it: http://store/v1 gets /v1/pets, not /v1/v1/pets.
 *
 * @param prefixes longest first; `''`: none
 * @param urls by upstream
 */
export function createStorePaths(prefixes: readonly string[], urls: ReadonlyMap<string, readonly string[]>): StorePath {
  const repeated = new Map<string, readonly string[]>();
  for (const [upstream, own] of urls) {
    const found = prefixes.filter((prefix) => own.every((url) => endsWithPath(url, prefix)));
    if (found.length > 0) repeated.set(upstream, found);
  }
  if (repeated.size === 0) return (_operation, path) => path;
  return ({ upstream }, path) => {
    const prefix = repeated.get(upstream ?? DEFAULT_UPSTREAM)?.find((one) => path.startsWith(`${one}/`));
    return prefix === undefined ? path : path.slice(prefix.length);
  };
}
