import type { Dispatcher } from 'undici';
import type { Observe } from '../../observe/events.ts';
import type { Exchange } from '../exchange.ts';
import type { Checked } from '../results.ts';
import type { Upstream } from '../upstream/connections.ts';
import { requestHeaders } from '../upstream/headers.ts';
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
    const headers = requestHeaders(exchange, client);
    const options: Dispatcher.DispatchOptions = {
      method: exchange.method as Dispatcher.HttpMethod,
      path: query === '' ? upstream.basePath + path : `${upstream.basePath}${path}?${query}`,
      headers: plainAnswers ? withoutEncodings(headers) : headers,
      body,
    };
    exchange.forwardedAt = performance.now();
    return ask({ upstream, observe, exchange, options });
  };
}

function withoutEncodings(headers: readonly string[]): string[] {
  return headers.filter((_, i) => headers[i - (i % 2)]!.toLowerCase() !== 'accept-encoding');
}
