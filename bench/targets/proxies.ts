import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { startNginx } from '../nginx.ts';
import { missingExecutable } from '../processors.ts';
import type { Target } from './target.ts';

/** The unit: a bare proxy without keys, with an access log. */
export const nginx: Target = {
  name: 'nginx',
  title: 'nginx proxy_pass',
  works: ['get', 'get-varied', 'get-100k', 'get-10m', 'post', 'post-10k', 'post-1m'],
  start: ({ children, backend }) =>
    startNginx(children, { name: 'nginx', log: '/dev/null', backend: backend.port }),
};

/** The unit for refusals. It admits one request a minute, its minimum. */
export const nginxLimit: Target = {
  name: 'nginx-limit',
  title: 'nginx limit_req',
  works: ['refused'],
  start: ({ children, backend }) =>
    startNginx(children, {
      name: 'nginx-limit',
      log: '/dev/null',
      backend: backend.port,
      http: 'limit_req_zone $http_x_api_key zone=keys:10m rate=1r/m;',
      // At the shipped level each refusal has a line in the error log, too.
      location: 'limit_req zone=keys; limit_req_status 429; limit_req_log_level info;',
    }),
};

export const haproxy = configured(
  ['haproxy', 'HAProxy'],
  ['-db', '-f'],
  (port, backend) => `global
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
`,
);

export const caddy = configured(
  ['caddy', 'Caddy'],
  ['run', '--adapter', 'caddyfile', '--config'],
  (port, backend) => `{
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
`,
);

/** Its last argument is the file of its configuration. */
function configured(
  [name, title]: readonly [string, string],
  args: readonly string[],
  configuration: (port: number, backend: number) => string,
): Target {
  return {
    name,
    title,
    works: ['get'],
    missing: () => missingExecutable(name),
    async start({ children, backend }) {
      const port = await freePort();
      const file = join(children.folder, `${name}.conf`);
      writeFileSync(file, configuration(port, backend.port));
      return await children.start({ name, file: name, args: [...args, file], port });
    },
  };
}
