import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { missingExecutable } from './executable.ts';
import type { Target } from './target.ts';

export const haproxy: Target = {
  name: 'haproxy',
  title: 'HAProxy',
  works: ['get'],
  counts: false,
  redis: false,
  missing: () => missingExecutable('haproxy'),
  async start({ children, backend, keys }) {
    const port = await freePort();
    const file = join(children.folder, 'haproxy.cfg');
    writeFileSync(file, configuration(port, backend.port));
    const child = await children.start({
      name: 'haproxy',
      file: 'haproxy',
      args: ['-db', '-f', file],
      port,
    });
    return { url: `http://127.0.0.1:${port}`, keys, ...child };
  },
};

function configuration(port: number, backend: number): string {
  return `global
  nbthread 1
  maxconn 4096
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout http-keep-alive 60s
  http-reuse always
listen gateway
  bind 127.0.0.1:${port}
  server backend 127.0.0.1:${backend}
`;
}
