/**
 * So that `npm run check` needs no installation in bench/. These declarations also win over
 * installed packages.
 */
declare module 'fastify' {
  import type { IncomingHttpHeaders } from 'node:http';

  export interface Request {
    readonly headers: IncomingHttpHeaders;
  }
  export type Plugin<Options> = (app: App, options: Options) => Promise<void>;
  export interface App {
    register<Options>(plugin: Plugin<Options>, options: NoInfer<Options>): PromiseLike<unknown>;
    listen(address: { readonly port: number; readonly host: string }): Promise<string>;
  }
  export function fastify(): App;
}

declare module '@fastify/http-proxy' {
  import type { Plugin } from 'fastify';

  const proxy: Plugin<{
    readonly upstream: string;
    readonly undici?: { readonly connections: number };
  }>;
  export default proxy;
}

declare module '@fastify/rate-limit' {
  import type { Plugin, Request } from 'fastify';
  import type { Redis } from 'ioredis';

  const rateLimit: Plugin<{
    readonly redis: Redis;
    readonly nameSpace: string;
    readonly timeWindow: string;
    readonly keyGenerator: (request: Request) => string;
    readonly max: (request: Request, key: string) => number;
  }>;
  export default rateLimit;
}

declare module 'fast-gateway' {
  interface Route {
    readonly prefix: string;
    readonly prefixRewrite: string;
    readonly pathRegex: string;
    readonly target: string;
  }
  export default function gateway(options: { readonly routes: readonly Route[] }): {
    start(port: number, host: string): Promise<unknown>;
  };
}

declare module 'morgan' {
  import type { RequestHandler } from 'express';

  export default function morgan(format: string): RequestHandler;
}
