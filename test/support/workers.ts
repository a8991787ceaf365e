import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AdminCall } from './admin.ts';
import { adminOf } from './admin.ts';
import { send } from './client.ts';
import { patientText } from './deadlines.ts';
import { bodyOf } from './failure.ts';
import { finished, type Running, storegate } from './storegate.ts';
import { until } from './until.ts';

export interface WorkersOptions {
  readonly redisUrl: string;
  readonly backendUrl?: string;
  readonly workers?: number;
  /** Has the shipped contract, which takes a third of a start. */
  readonly isDescribed?: boolean;
  /**
   * Texts of files in its folder. The gateway reads gateway.yaml without a name on the command
   * line.
   */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  /** The folder of an earlier gateway that was killed. */
  readonly folder?: string;
  /** The entry point of another version. */
  readonly main?: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was said.
export type Line = Record<string, any>;

export interface Answered {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A separate primary process with workers, on free ports. Stop it after use. */
export class GatewayWithWorkers {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly running: Running;
  url = '';
  adminUrl = '';
  readonly #log: Line[] = [];
  #read = 0;

  private constructor({
    redisUrl,
    backendUrl,
    workers = 2,
    isDescribed = false,
    files = {},
    env = {},
    folder,
    main,
  }: WorkersOptions) {
    this.folder = folder ?? mkdtempSync(join(tmpdir(), 'storegate-'));
    for (const [name, text] of Object.entries({ 'gateway.yaml': '', ...files }))
      this.write(name, text);
    this.env = {
      REDIS_URL: redisUrl,
      ...(backendUrl === undefined ? {} : { BACKEND_URL: backendUrl }),
      STOREGATE_WORKERS: `${workers}`,
      STOREGATE_CONFIG: 'gateway.yaml',
      STOREGATE_PORT: '0',
      STOREGATE_ADMIN_PORT: '0',
      ...(!isDescribed && { STOREGATE_CONTRACT: 'none' }),
      ...env,
    };
    const where = {
      cwd: this.folder,
      env: this.env,
      ownGroup: true,
      ...(main !== undefined && { main }),
    };
    this.running = storegate(['serve', '--no-demo-keys'], where);
  }

  static async start(options: WorkersOptions): Promise<GatewayWithWorkers> {
    const gateway = new GatewayWithWorkers(options);
    try {
      await gateway.#begin();
      return gateway;
    } catch (error) {
      await gateway.stop();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    let code: number | null | undefined;
    void this.running.exit.then((ended) => {
      code = ended;
    });
    await until(
      'the gateway has started or ended',
      () => this.logged('started').length > 0 || code !== undefined,
    );
    const [started] = this.logged('started');
    if (!started) throw new Error(`it ended with ${code}: ${this.running.err()}`);
    this.url = started.url;
    this.adminUrl = started.adminUrl;
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.folder, file), file === 'gateway.yaml' ? patientText(text) : text);
  }

  get log(): readonly Line[] {
    const out = this.running.out();
    const end = out.lastIndexOf('\n') + 1;
    const lines = out.slice(this.#read, end).split('\n');
    this.#read = end;
    this.#log.push(
      ...lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Line),
    );
    return this.#log;
  }

  logged(type: string): Line[] {
    return this.log.filter(({ msg }) => msg === type);
  }

  /** In order; an ended worker counts until its replacement has started. */
  get pids(): number[] {
    const latest = new Map<number, number>();
    for (const { worker, pid } of this.logged('worker.started')) latest.set(worker, pid);
    return [...latest].sort(([a], [b]) => a - b).map(([, pid]) => pid);
  }

  get admin(): AdminCall {
    return adminOf(this.adminUrl);
  }

  async key(limits: string, plan = 'enterprise'): Promise<{ id: string; key: string }> {
    return bodyOf(await this.admin('POST', '/keys', { account: 'acme', plan, limits }));
  }

  /** A request on a new connection, which may reach any worker. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answered> {
    return get(`${this.url}${path}`, headers);
  }

  /** Sends requests until every worker has answered some of them; returns all responses. */
  async fromEveryWorker(
    path: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answered[]> {
    const before = this.logged('request').length;
    const responses: Answered[] = [];
    const reached = () => {
      const requests = this.logged('request').slice(before);
      return new Set(requests.map(({ worker }) => worker)).size === this.pids.length;
    };
    await until('every worker has answered', async () => {
      responses.push(await this.get(path, headers));
      return reached();
    });
    return responses;
  }

  metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    return metricOf(this.adminUrl, name, labels);
  }

  /** Ends all its processes at once, and keeps the folder. */
  async kill(): Promise<void> {
    const group = -this.running.child.pid!;
    if (isAlive(group)) process.kill(group, 'SIGKILL');
    await this.running.exit;
  }

  async stop(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Summed over all lines whose labels match. */
export async function metricOf(
  adminUrl: string,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { text: exposition } = await send(`${adminUrl}/metrics`);
  const expected = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  const lines = exposition
    .split('\n')
    .filter(
      (line) =>
        (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) &&
        expected.every((one) => line.includes(one)),
    );
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

export function beside({ folder, env }: GatewayWithWorkers, ...args: string[]) {
  return finished(args, { cwd: folder, env });
}

export async function get(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  agent: Agent | false = false,
): Promise<Answered> {
  const call = request(url, { headers, agent });
  call.end();
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  return { status: response.statusCode!, headers: response.headers, body: await text(response) };
}

/** Sends `requests` in total, on one kept-alive connection per client. */
export async function flood(
  url: string,
  {
    callers,
    requests,
    headers,
  }: { callers: number; requests: number; headers: Readonly<Record<string, string>> },
): Promise<Answered[]> {
  const responses: Answered[] = [];
  let remaining = requests;
  async function call(): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (remaining-- > 0) responses.push(await get(url, headers, agent));
    agent.destroy();
  }
  await Promise.all(Array.from({ length: callers }, call));
  return responses;
}

/** A zombie is not alive. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

export function allGone(pids: readonly number[]): Promise<void> {
  return until('no process is left', () => !pids.some(isAlive));
}
