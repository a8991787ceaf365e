import type { Question } from '@storegate/http1';
import type { Operation } from '../../config/contract/contract.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import type { RequestFields } from '../upstream/headers.ts';
import type { StorePath } from '../upstream/store-paths.ts';
import type { StoreResponse } from '../upstream/store-response.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { sendUpstream } from '../upstream/upstream-request.ts';

/** Rejects with Outage or ClientAbort. */
export type Forward = (exchange: Exchange, checked: Checked) => Promise<StoreResponse>;

export interface ForwardParts {
  readonly upstreamOf: (operation: Operation) => Upstream;
  readonly pathOf: StorePath;
  readonly observe: Observe;
  readonly requestFields: RequestFields;
  /** The gateway reads them. */
  readonly plainAnswers: boolean;
}

export function createForward({ upstreamOf, pathOf, observe, requestFields, plainAnswers }: ForwardParts): Forward {
  return function forward(exchange, { client, target: { path: asked, query }, operation, body }) {
    const path = pathOf(operation, asked);
    const question: Question = {
      method: exchange.call.method,
      target: query === '' ? path : `${path}?${query}`,
      fields: requestFields(exchange, client, plainAnswers),
      body,
    };
    exchange.forwardedAt = performance.now();
    return sendUpstream({ upstream: upstreamOf(operation), observe, exchange, asked: question });
  };
}
