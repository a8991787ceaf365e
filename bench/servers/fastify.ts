import proxy from '@fastify/http-proxy';
import { fastify } from 'fastify';
import { backendUrl, CONNECTIONS, port } from './environment.ts';

const app = fastify();
await app.register(proxy, { upstream: backendUrl, undici: { connections: CONNECTIONS } });
await app.listen({ port, host: '127.0.0.1' });
