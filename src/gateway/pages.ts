import type { RequestListener } from 'node:http';
import type { Exchange } from './exchange.ts';
import type { Guard } from './guard.ts';
import type { Answer } from './reply/answer.ts';

/** Paths of the public listener that need no key: the contract and its reference. */
export interface Pages {
  has(path: string): boolean;
  serve(exchange: Exchange): Promise<void>;
}

export interface PagesOptions {
  readonly app: RequestListener;
  /** Exact paths, or prefixes that end in `/`. */
  readonly paths: readonly string[];
  readonly guard: Guard;
  readonly answer: Answer;
}

/** Hands a page to `app` with the headers of every answer already set. */
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
      app(exchange.request, exchange.response);
    },
  };
}
