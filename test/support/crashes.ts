import { mkdtempSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { makeSecret } from '../../src/records/keys/secret.ts';
import { bodyOf } from './failure.ts';
import { type Running, storegate } from './storegate.ts';
import { until } from './until.ts';

const PLANS = `plans:
  free: { windows: [{ limit: 1000, per: day }] }
  enterprise: { custom: true }
`;

export interface Reply {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: callers read any property of the answer.
  readonly body: any;
}

/** The gateway was killed during a call, whose outcome is unknown. */
export class GatewayGone extends Error {
  override name = 'GatewayGone';
}

export class CrashingGateway {
  readonly folder = mkdtempSync(join(tmpdir(), 'storegate-crash-'));
  url = '';
  adminUrl = '';
  readonly #token = makeSecret('admin');
  env: Readonly<Record<string, string>> = {};
  readonly #env: Readonly<Record<string, string>>;
  #running: Running | null = null;

  constructor(backendUrl: string) {
    writeFileSync(join(this.folder, 'plans.yaml'), PLANS);
    writeFileSync(join(this.folder, 'gateway.yaml'), 'log: { requests: false }\n');
    this.#env = {
      STOREGATE_CONFIG: 'gateway.yaml',
      BACKEND_URL: backendUrl,
      STOREGATE_DATA: 'data',
      STOREGATE_PLANS: 'plans.yaml',
      STOREGATE_PORT: '0',
      STOREGATE_ADMIN_PORT: '0',
      STOREGATE_ADMIN_TOKEN: this.#token,
    };
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  get pid(): number {
    return this.#running!.child.pid!;
  }

  async start(): Promise<void> {
    const running = storegate(['serve', '--no-demo-keys'], {
      cwd: this.folder,
      env: { ...this.#env, ...this.env },
    });
    this.#running = running;
    let hasEnded = false;
    void running.exit.then(() => {
      hasEnded = true;
    });
    const started = () =>
      running
        .out()
        .split('\n')
        .find((line) => line.includes('"msg":"started"'));
    await until('the gateway has started or ended', () => started() !== undefined || hasEnded);
    const line = started();
    if (line === undefined)
      throw new Error(`the gateway did not start: ${running.out()}${running.err()}`);
    ({ url: this.url, adminUrl: this.adminUrl } = JSON.parse(line) as {
      url: string;
      adminUrl: string;
    });
  }

  async kill(): Promise<void> {
    this.#running?.child.kill('SIGKILL');
    await this.#running?.exit;
  }

  get log(): readonly string[] {
    return this.#running!.out().split('\n');
  }

  /** Throws GatewayGone without a whole response. */
  async admin(method: string, path: string, body?: unknown): Promise<Reply> {
    return await this.ask(`${this.adminUrl}${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.#token}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  async ask(url: string, init: RequestInit): Promise<Reply> {
    try {
      const response = await fetch(url, init);
      return { status: response.status, body: await response.json() };
    } catch (error) {
      throw new GatewayGone('the connection has ended', { cause: error });
    }
  }

  async key(limits: string): Promise<{ id: string; key: string }> {
    return bodyOf(
      await this.admin('POST', '/keys', { account: 'acme', plan: 'enterprise', limits }),
    );
  }

  async used(id: string): Promise<number> {
    return bodyOf(await this.admin('GET', `/usage/${id}`)).usage[0].windows[0].used;
  }
}

export class Load {
  /** Times by `performance.now()`. */
  readonly admitted: number[] = [];
  sent = 0;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #callers: Promise<unknown>;
  #isOver = false;

  constructor(url: string, key: string, callers: number) {
    this.#callers = Promise.all(
      Array.from({ length: callers }, () => this.#call(`${url}/pets`, key)),
    );
  }

  /** Resolves once no request is in flight. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#callers;
    this.#agent.destroy();
  }

  async #call(url: string, key: string): Promise<void> {
    // Without a pause, requests would take the processor that the gateway needs.
    for (; !this.#isOver; await pause(20)) {
      this.sent += 1;
      const status = await statusOf(url, key, this.#agent);
      if (status === null) return;
      if (status === 200) this.admitted.push(performance.now());
    }
  }
}

/** `null` if the gateway is down. */
export function statusOf(url: string, key: string, agent: Agent): Promise<number | null> {
  return new Promise((resolve) => {
    const requested = request(url, { agent, headers: { 'X-API-Key': key } }, (response) => {
      response.on('error', () => resolve(null));
      response.on('end', () => resolve(response.statusCode!));
      response.resume();
    });
    requested.on('error', () => resolve(null));
    requested.end();
  });
}
