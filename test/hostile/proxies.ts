import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Program, program } from '../runner/programs.ts';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

export interface Proxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** nginx with one process. `folder` is for its files. */
export function startNginx(serverBlock: (folder: string) => string, http = ''): Promise<Proxy> {
  return startProxy('nginx', (folder, port) => {
    const file = join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    writeFileSync(
      file,
      `${process.getuid?.() === 0 ? 'user root;' : ''}
      daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr crit;
      events { worker_connections 512; }
      http {
        access_log off; keepalive_requests 1000000;
        ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
        ${http}
        server { listen 127.0.0.1:${port}; ${serverBlock(folder)} }
      }`,
    );
    return ['-p', folder, '-e', 'stderr', '-c', file];
  });
}

/** One kept connection to the gateway, with as few checks and changes as possible. */
export function nginxBefore(gateway: string): Promise<Proxy> {
  return startNginx(
    () => `ignore_invalid_headers off; underscores_in_headers on; merge_slashes off; client_max_body_size 0;
      location / {
        proxy_pass http://gateway; proxy_http_version 1.1; proxy_request_buffering off; proxy_next_upstream off;
        proxy_set_header Connection ""; proxy_set_header Host $http_host;
      }`,
    `upstream gateway { server ${new URL(gateway).host}; keepalive 1; keepalive_requests 1000000; }`,
  );
}

/** Reuses connections across clients, and forwards as much as it can. */
export function haproxyBefore(gateway: string): Promise<Proxy> {
  return startProxy('haproxy', (folder, port) => {
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(
      file,
      `global
  nbthread 1
  maxconn 512
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  retries 0
  option accept-invalid-http-request
frontend callers
  bind 127.0.0.1:${port}
  default_backend gateway
backend gateway
  http-reuse always
  option accept-invalid-http-response
  server gateway ${new URL(gateway).host}
`,
    );
    return ['-db', '-f', file];
  });
}

export async function startProxy(
  name: Program,
  argumentsOf: (folder: string, port: number) => string[],
): Promise<Proxy> {
  const folder = mkdtempSync(join(tmpdir(), `${name}-`));
  const port = await freePort();
  const child = spawn(program(name), argumentsOf(folder, port), {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (data) => {
    output = (output + data).slice(-4_000);
  });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGKILL');
    if (!isGone(child)) await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  await until(`${name} listens or has ended`, async () => isGone(child) || (await accepts(port)));
  if (isGone(child)) {
    await stop();
    throw new Error(`${name} ended:\n${output}`);
  }
  return { url: `http://127.0.0.1:${port}`, stop };
}

function isGone({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  const accepted = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return accepted;
}

/**
 * A transparent relay between a proxy and its backend that records the bytes of each connection.
 */
export class Tap {
  readonly connections: { sent: string }[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #server;

  private constructor(to: string) {
    const { hostname: host, port } = new URL(to);
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      const connection = { sent: '' };
      this.connections.push(connection);
      const onward = connect({ host, port: Number(port), allowHalfOpen: true });
      for (const [one, other] of [
        [socket, onward],
        [onward, socket],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => this.#sockets.delete(one));
      }
      socket.on('data', (bytes) => {
        connection.sent += bytes.toString('latin1');
      });
      socket.pipe(onward).pipe(socket);
    });
  }

  static async start(to: string): Promise<Tap> {
    const tap = new Tap(to);
    tap.#server.listen(0, '127.0.0.1');
    await once(tap.#server, 'listening');
    return tap;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await once(this.#server, 'close');
  }
}
