import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Guard } from '../../callers/guard.ts';
import { Refusal } from '../../errors/refusals.ts';
import type { Exchange } from '../exchange.ts';
import type { Answer } from '../reply/answer.ts';

/** Paths of the public listener that need no key: the contract and its reference. */
export interface Pages {
  has(path: string): boolean;
  serve(exchange: Exchange): Promise<void>;
}

/** Calls `next` instead of answering: with an error, or with nothing when it has no such page. */
export type PagesApp = (request: IncomingMessage, response: ServerResponse, next: (thrown?: unknown) => void) => void;

export interface PagesOptions {
  readonly app: PagesApp;
  /** Exact paths, or prefixes that end in `/`. */
  readonly paths: readonly string[];
  readonly guard: Guard;
  readonly answer: Answer;
}

/** Hands the request to `app` with the headers of every answer already set, and answers what `app` does not. */
export function createPages({ app, paths, guard, answer }: PagesOptions): Pages {
  const exact = new Set(paths.filter((path) => !path.endsWith('/')));
  const prefixes = paths.filter((path) => path.endsWith('/'));
  return {
    has: (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix)),
    async serve(exchange) {
      exchange.route = 'reference';
      exchange.standing = await guard.look(exchange.address);
      const headers = answer.headers(exchange);
      for (let i = 0; i < headers.length; i += 2) exchange.response.setHeader(headers[i]!, headers[i + 1]!);
      app(exchange.request, exchange.response, (thrown = new Refusal('not_found')) => {
        forgetPage(exchange.response);
        void answer.fail(exchange, thrown);
      });
    },
  };
}

/** Removes coding, caching and type of the page that was not sent; an error under the wrong coding is unreadable. */
function forgetPage(response: ServerResponse): void {
  if (response.headersSent) return;
  for (const name of response.getHeaderNames()) response.removeHeader(name);
}
