import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../test/support/free-port.ts';
import type { Child, Children } from './children.ts';
import type { Place } from './processors.ts';

interface NginxOptions {
  readonly name: string;
  /** The port to which `/` is forwarded. */
  readonly backend?: number;
  /** Inside `http`, `server` and `location /`. */
  readonly http?: string;
  readonly server?: string;
  readonly location?: string;
  readonly place?: Place;
  /** Files for TLS 1.3. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Dynamic modules by file name, without `.so`. */
  readonly modules?: readonly string[];
  /** A line per request, to this file. */
  readonly log?: string | undefined;
  /** As in Command. */
  readonly redirection?: string | undefined;
}

const MODULES = '/usr/lib/nginx/modules';

export function hasNginxModules(modules: readonly string[]): boolean {
  return modules.every((module) => existsSync(join(MODULES, `${module}.so`)));
}

/** One worker, kept-alive connections; by default no log. */
export async function startNginx(children: Children, options: NginxOptions): Promise<Child> {
  const port = await freePort();
  const folder = join(children.folder, options.name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, options));
  const args = ['-p', folder, '-e', 'stderr', '-c', file];
  const { name, place = 'measured', redirection } = options;
  return await children.start({ name, file: 'nginx', args, port, place, redirection });
}

function configuration(folder: string, port: number, options: NginxOptions): string {
  const { backend, http = '', server = '', location = '' } = options;
  const { modules = [], tls, log = 'off' } = options;
  const loads = modules.map((module) => `load_module ${MODULES}/${module}.so;`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  // Kept-alive forwarding: HTTP/1.1 without a Connection header.
  const upstream = `upstream backend { server 127.0.0.1:${backend}; keepalive 128; keepalive_requests 1000000000; }`;
  const forwarding = `location / { ${location} proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; }`;
  const files = tls && `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key};`;
  return `${loads.join('\n')}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile 20000;
events { worker_connections 10000; }
http {
  access_log ${log};
  default_type application/json;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  ${temporary.join('\n  ')}
  ${backend ? upstream : ''}
  ${http}
  server {
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ssl_protocols TLSv1.3;
    ${files ?? ''}
    ${backend ? forwarding : ''}
    ${server}
  }
}
`;
}
