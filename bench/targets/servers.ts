import { freePort } from '../../test/support/free-port.ts';
import { missingExecutable, type Running, type Surroundings, type Target } from './target.ts';

const LIMITED = { counts: true, redis: true, missing: () => missingExecutable('redis-server') };

/** Of ../servers/, in the order of the table. */
export const servers: readonly Target[] = [
  // The simplest proxy in Node.js.
  server('undici', 'undici dispatch in node:http', ['get', 'post']),
  // The cheapest refusal in Node.js: one prepared response with the same headers.
  server('refusal', 'one prepared refusal in node:http', ['refused']),
  server('fast-gateway', 'fast-gateway', ['get']),
  server('fastify', '@fastify/http-proxy', ['get', 'post']),
  // Its limiter has one window per route.
  server(
    'fastify-limit',
    '@fastify/http-proxy + rate-limit, 1 window, Redis',
    ['get', 'refused'],
    LIMITED,
  ),
  server('express', 'Express + http-proxy-middleware', ['get', 'post']),
  // The stack of best-known packages for the same job.
  server('usual', 'the usual Express stack', ['get', 'post', 'refused', 'unknown'], LIMITED),
];

function server(
  name: string,
  title: string,
  works: Target['works'],
  more: Partial<Target> = {},
): Target {
  const start = (surroundings: Surroundings) => startServer(name, surroundings);
  return { name, title, works, counts: false, redis: false, missing: () => null, start, ...more };
}

async function startServer(
  name: string,
  { children, backend, redis, keys }: Surroundings,
): Promise<Running> {
  const port = await freePort();
  const child = await children.start({
    name,
    file: process.execPath,
    args: [new URL(`../servers/${name}.ts`, import.meta.url).pathname],
    output: '/dev/null',
    env: {
      // Recommended to operators; Express is slower without it.
      NODE_ENV: 'production',
      PORT: String(port),
      BACKEND_URL: backend.url,
      REDIS_URL: redis?.url ?? '',
      ADMITTED_KEY: keys.admitted,
      REFUSED_KEY: keys.refused,
    },
    port,
  });
  return { url: `http://127.0.0.1:${port}`, keys, ...child };
}
