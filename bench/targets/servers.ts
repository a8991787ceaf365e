import { freePort } from '../../test/support/free-port.ts';
import { KEYS } from '../work.ts';
import type { Target } from './target.ts';

/** Of ../servers/, in the order of the table. */
export const servers: readonly Target[] = [
  // The simplest proxy in Node.js.
  server('undici', 'undici dispatch in node:http', ['get', 'post']),
  // The cheapest refusal in Node.js: one prepared response with the same headers.
  server('refusal', 'one prepared refusal in node:http', ['refused']),
  server('fast-gateway', 'fast-gateway', ['get']),
  server('fastify', '@fastify/http-proxy', ['get', 'post']),
  // Its limiter has one window per route.
  {
    ...server(
      'fastify',
      '@fastify/http-proxy + rate-limit, 1 window, Redis',
      ['get', 'refused'],
      true,
    ),
    name: 'fastify-limit',
  },
  server('express', 'Express + http-proxy-middleware', ['get', 'post']),
  // The stack of best-known packages for the same job.
  server('usual', 'the usual Express stack', ['get', 'post', 'refused', 'unknown'], true),
];

function server(name: string, title: string, works: Target['works'], isLimited = false): Target {
  const start: Target['start'] = async ({ children, backend, redis }) => {
    const port = await freePort();
    return await children.start({
      name,
      file: process.execPath,
      args: [new URL(`../servers/${name}.ts`, import.meta.url).pathname],
      redirection: '> /dev/null',
      env: {
        // Recommended to operators; Express is slower without it.
        NODE_ENV: 'production',
        PORT: String(port),
        BACKEND_URL: backend.url,
        ...(isLimited && { REDIS_URL: redis!.url }),
        ADMITTED_KEY: KEYS.admitted,
        REFUSED_KEY: KEYS.refused,
      },
      port,
    });
  };
  return { name, title, works, counts: isLimited, redis: isLimited, start };
}
