import { createServer } from 'node:http';
import { port } from './environment.ts';

const body = JSON.stringify({
  code: 'key_banned',
  message:
    'This key is banned until 2030-01-01T00:00:00Z. Wait until then; a key that keeps sending is banned longer.',
  status: 403,
});
const headers = [
  'X-Request-Id',
  'ad5cd3a1-6e62-4b0a-8d4f-5f7c2d6f0f5b',
  'X-RateLimit-Limit',
  '1',
  'X-RateLimit-Remaining',
  '0',
  'X-RateLimit-Reset',
  '1893456000',
  'RateLimit-Policy',
  '"day";q=1;w=86400',
  'RateLimit',
  '"day";r=0;t=86400',
  'Content-Type',
  'application/json; charset=utf-8',
  'Cache-Control',
  'no-store',
  'Retry-After',
  '86400',
  'Content-Length',
  String(body.length),
];

createServer((_request, response) => {
  response.writeHead(403, headers);
  response.end(body, 'latin1');
}).listen(port, '127.0.0.1');
