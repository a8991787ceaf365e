import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child, Children } from './children.ts';
import type { Place } from './processors.ts';

export interface NginxOptions {
  readonly name: string;
  readonly port: number;
  /** Inside `http`. */
  readonly http?: string;
  /** Inside `server`. */
  readonly server: string;
  readonly place?: Place;
  /** Files for TLS 1.3. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Dynamic modules by file name, without `.so`. */
  readonly modules?: readonly string[];
  /** Most connections, to clients and backends. */
  readonly connections?: number;
  /** A line per request, to /dev/null. */
  readonly log?: boolean;
  /** As in Command. */
  readonly redirection?: string;
}

const MODULES = '/usr/lib/nginx/modules';

export function hasNginxModules(modules: readonly string[]): boolean {
  return modules.every((module) => existsSync(join(MODULES, `${module}.so`)));
}

/** One worker, kept-alive connections; by default no log. */
export function startNginx(children: Children, options: NginxOptions): Promise<Child> {
  const folder = join(children.folder, options.name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, options));
  const args = ['-p', folder, '-e', 'stderr', '-c', file];
  const { name, port, place = 'measured', redirection } = options;
  const command = { name, file: 'nginx', args, port, place };
  return children.start(redirection === undefined ? command : { ...command, redirection });
}

/** Kept-alive forwarding: HTTP/1.1 without a Connection header. */
export function upstream(port: number): string {
  return `upstream backend { server 127.0.0.1:${port}; keepalive 128; keepalive_requests 1000000000; }`;
}

export const PROXY_PASS =
  'proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection "";';

function configuration(folder: string, options: NginxOptions): string {
  const { port, http = '', server, modules = [], tls, connections = 4_096 } = options;
  const log = options.log === true ? '/dev/null combined' : 'off';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${modules.map((module) => `load_module ${MODULES}/${module}.so;`).join('\n')}
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
worker_rlimit_nofile ${2 * connections};
events { worker_connections ${connections}; }
http {
  access_log ${log};
  default_type application/json;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  ${http}
  server {
    listen 127.0.0.1:${port}${tls ? ' ssl' : ''};
    ${tls ? `ssl_certificate ${tls.cert}; ssl_certificate_key ${tls.key}; ssl_protocols TLSv1.3;` : ''}
    ${server}
  }
}
`;
}
