import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { missingExecutable } from './executable.ts';
import type { Target } from './target.ts';

export const caddy: Target = {
  name: 'caddy',
  title: 'Caddy',
  works: ['get'],
  counts: false,
  redis: false,
  missing: () => missingExecutable('caddy'),
  async start({ children, backend, keys }) {
    const port = await freePort();
    const file = join(children.folder, 'Caddyfile');
    writeFileSync(file, configuration(port, backend.port));
    const args = ['run', '--adapter', 'caddyfile', '--config', file];
    const child = await children.start({ name: 'caddy', file: 'caddy', args, port });
    return { url: `http://127.0.0.1:${port}`, keys, ...child };
  },
};

function configuration(port: number, backend: number): string {
  return `{
	admin off
	auto_https off
}
http://127.0.0.1:${port} {
	bind 127.0.0.1
	reverse_proxy 127.0.0.1:${backend} {
		transport http {
			keepalive_idle_conns_per_host 128
		}
	}
}
`;
}
