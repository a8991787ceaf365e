import type { Question } from '../../http1/question.ts';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import type { Upstream } from '../upstream/connections.ts';
import { requestFields } from '../upstream/headers.ts';
import { ask } from '../upstream/question.ts';
import type { StoreAnswer } from '../upstream/store-answer.ts';

/** Sends the checked request to the store. Rejects with Outage or CallerLeft. */
export type Forward = (exchange: Exchange, checked: Checked) => Promise<StoreAnswer>;

export interface ForwardParts {
  readonly upstream: Upstream;
  readonly observe: Observe;
  /** Whether to ask the store for answers without a content coding, because the gateway reads them. */
  readonly plainAnswers: boolean;
}

export function createForward({ upstream, observe, plainAnswers }: ForwardParts): Forward {
  return function forward(exchange, { client, target: { path, query }, body }) {
    const asked: Question = {
      method: exchange.call.method,
      target: query === '' ? upstream.basePath + path : `${upstream.basePath}${path}?${query}`,
      fields: requestFields(exchange, client, plainAnswers),
      body,
    };
    exchange.forwardedAt = performance.now();
    return ask({ pool: upstream.pool, observe, exchange, asked });
  };
}
