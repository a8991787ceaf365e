import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../runner/programs.ts';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/**
 * `refuse`: stopped, its port is closed. `hang`: the system accepts connections and bytes, the
 * process does nothing, also on open connections. `reset`: connections are cut without a byte.
 * `half`: the body is shorter than its length. `garbage`: the response is not HTTP. `drip`: one
 * byte per second. `error`: it returns 503.
 */
export type Fault = 'refuse' | 'hang' | 'reset' | 'half' | 'garbage' | 'drip' | 'error';

const BY_FILE = ['reset', 'half', 'garbage', 'drip', 'error'] as const satisfies readonly Fault[];

/**
 * Responses that nginx does not produce itself, and forwards unchanged; it takes bytes that are not
 * HTTP for HTTP/0.9.
 */
const SPOILT = {
  half: 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n[{"id":1',
  garbage: 'SSH-2.0-OpenSSH_9.2 no HTTP at all\r\n\r\n',
} as const;

/**
 * A real nginx as upstream, with faults on request. Its response to everything is `{"backend":"<its
 * name>"}`.
 */
export class NginxBackend {
  readonly name: string;
  readonly port: number;
  readonly #folder: string;
  readonly #spoilers: readonly Server[];
  #child: ChildProcess | null = null;
  #isFrozen = false;

  private constructor(name: string, port: number, folder: string, spoilers: readonly Server[]) {
    this.name = name;
    this.port = port;
    this.#folder = folder;
    this.#spoilers = spoilers;
    const [half, garbage] = spoilers.map(portOf) as [number, number];
    writeFileSync(join(folder, 'nginx.conf'), configuration({ folder, name, port, half, garbage }));
  }

  static async start(name = 'a'): Promise<NginxBackend> {
    const spoilers = await Promise.all([spoiler(SPOILT.half), spoiler(SPOILT.garbage)]);
    const folder = mkdtempSync(join(tmpdir(), 'storegate-nginx-'));
    const backend = new NginxBackend(name, await freePort(), folder, spoilers);
    try {
      await backend.#begin();
      return backend;
    } catch (error) {
      await backend.stop();
      throw error;
    }
  }

  get label(): string {
    return `127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `http://${this.label}`;
  }

  /** Finished requests, as `GET /pets`, oldest first. */
  get seen(): readonly string[] {
    const file = join(this.#folder, 'access.log');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  async fail(fault: Fault): Promise<void> {
    if (fault === 'refuse') return this.#end();
    if (fault !== 'hang') return writeFileSync(this.#switchOf(fault), '');
    this.#child?.kill('SIGSTOP');
    this.#isFrozen = true;
  }

  async recover(): Promise<void> {
    for (const fault of BY_FILE) rmSync(this.#switchOf(fault), { force: true });
    if (this.#isFrozen) this.#child?.kill('SIGCONT');
    this.#isFrozen = false;
    if (this.#child === null) await this.#begin();
  }

  async stop(): Promise<void> {
    await this.#end();
    for (const server of this.#spoilers) server.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #begin(): Promise<void> {
    const file = join(this.#folder, 'nginx.conf');
    const args = ['-p', this.#folder, '-e', 'stderr', '-c', file];
    const child = spawn(program('nginx'), args, { stdio: ['ignore', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (data) => {
      said = (said + data).slice(-4_000);
    });
    this.#child = child;
    await until(`nginx serves on port ${this.port}`, async () => {
      if (child.exitCode !== null) throw new Error(`nginx ended: ${said}`);
      return (await fetch(`${this.url}/-/begun`).catch(() => null))?.ok === true;
    });
  }

  async #end(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    this.#isFrozen = false;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    // A stopped process receives no other signal.
    child.kill('SIGKILL');
    await gone;
  }

  #switchOf(fault: Fault): string {
    return join(this.#folder, fault);
  }
}

async function spoiler(response: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

interface Configuration {
  readonly folder: string;
  readonly name: string;
  readonly port: number;
  readonly half: number;
  readonly garbage: number;
}

/** `if` with `-f` checks the disk at each request. */
function configuration({ folder, name, port, half, garbage }: Configuration): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr emerg;
events { worker_connections 1024; }
http {
  log_format asked '$request_method $request_uri';
  access_log ${folder}/access.log asked;
  ${temporary.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join('\n  ')}
  default_type application/json;
  keepalive_timeout 1h;
  keepalive_requests 1000000;
  reset_timedout_connection on;
  proxy_buffering off;
  server {
    listen 127.0.0.1:${port};
    location / {
      if (-f ${folder}/reset) { return 444; }
      if (-f ${folder}/error) { return 503; }
      if (-f ${folder}/half) { rewrite ^ /-/half last; }
      if (-f ${folder}/garbage) { rewrite ^ /-/garbage last; }
      if (-f ${folder}/drip) { set $limit_rate 1; }
      return 200 '{"backend":"${name}"}';
    }
    location = /-/begun { access_log off; return 200; }
    location = /-/half { internal; proxy_pass http://127.0.0.1:${half}; }
    location = /-/garbage { internal; proxy_pass http://127.0.0.1:${garbage}; }
  }
}
`;
}
