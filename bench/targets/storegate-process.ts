import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import type { Child, Children, Command } from '../children.ts';
import { KEYS, VISITS } from '../work.ts';
import type { Surroundings } from './target.ts';

const run = promisify(execFile);
const today = new URL('../../', import.meta.url).pathname;

/** A row of a file that `keys import` reads. */
export interface Key {
  readonly key: string;
  readonly account: string;
  readonly plan: string;
}

export interface StoregateOptions {
  readonly redis?: boolean;
  /** The shipped log, a line per request. */
  readonly log?: boolean;
  /** Of gateway.yaml. */
  readonly settings?: Readonly<Record<string, object>>;
  /** Default: this checkout. */
  readonly project?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Beside those of the run. */
  readonly keys?: readonly Key[];
}

/** One plan that refuses nothing and one that refuses everything; bans are as shipped. */
const PLANS = `plans:
  large:
    windows:
      - { limit: 1000000000000, per: minute }
      - { limit: 1000000000000, per: day }
  tiny:
    windows:
      - { limit: 1000000000000, per: minute }
      - { limit: 1, per: day }
`;

/** The shipped limit of failed keys would turn every 401 into a 429. */
export const HTTP = {
  authFailureLimit: { failures: 1_000_000, window: '1s' },
  maxRequestsPerConnection: 1_000_000_000,
  bodyBudget: '1GiB',
};

/** The last property of a new pet. */
const STATUS = /^ {8}status: \{ \$ref: .*$/m;

/** Restartable at the same addresses. */
export interface PreparedGateway {
  readonly command: Command;
  readonly adminUrl: string;
}

export async function startStoregate(
  name: string,
  surroundings: Surroundings,
  options: StoregateOptions,
): Promise<Child> {
  const { command } = await prepareStoregate(name, surroundings, options);
  return await surroundings.children.start(command);
}

/**
 * Runs what `npm start` runs; only addresses, limits and the log differ from the shipped settings.
 */
export async function prepareStoregate(
  name: string,
  { children, backend, redis }: Surroundings,
  options: StoregateOptions,
): Promise<PreparedGateway> {
  const { project = today, settings = {}, keys = [] } = options;
  const contract = readFileSync(join(project, 'config/openapi.yaml'), 'utf8');
  const visits = `$&\n        visits: ${JSON.stringify(VISITS)}`;
  const account = 'bench';
  return await prepareGateway(children, name, {
    project,
    files: {
      'plans.yaml': PLANS,
      'openapi.yaml': contract.replace(STATUS, visits),
      'gateway.yaml': JSON.stringify({ ...settings, http: { ...HTTP, ...settings.http } }),
    },
    keys: [
      { key: KEYS.admitted, account, plan: 'large' },
      { key: KEYS.refused, account, plan: 'tiny' },
      ...keys,
    ],
    env: {
      STOREGATE_CONTRACT: 'openapi.yaml',
      BACKEND_URL: backend.url,
      ...(options.redis && { REDIS_URL: redis!.url }),
      ...(!options.log && { LOG_LEVEL: 'silent' }),
      ...options.env,
    },
    redirection: options.log ? '> /dev/null' : undefined,
  });
}

interface GatewayOptions extends Pick<Command, 'place' | 'redirection'> {
  readonly project: string;
  /** By name, in the folder of the gateway. */
  readonly files: Readonly<Record<string, string>>;
  readonly keys?: readonly Key[];
  readonly env: Readonly<Record<string, string>>;
}

export async function prepareGateway(
  children: Children,
  name: string,
  { project, files, keys = [], env: more, ...options }: GatewayOptions,
): Promise<PreparedGateway> {
  const cwd = join(children.folder, name);
  mkdirSync(cwd);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
  const [port, adminPort] = [await freePort(), await freePort()];
  const args = mainArguments(join(project, 'src/main.js'));
  const env = {
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: `${port}`,
    STOREGATE_ADMIN_PORT: `${adminPort}`,
    STOREGATE_DATA: 'data',
    STOREGATE_CONFIG: 'gateway.yaml',
    STOREGATE_PLANS: 'plans.yaml',
    ...more,
  };
  if (keys.length > 0) {
    const lines = keys.map((key) => JSON.stringify(key));
    writeFileSync(join(cwd, 'keys.ndjson'), lines.join('\n'), { mode: 0o600 });
    const command = [...args, 'keys', 'import', '--file', 'keys.ndjson'];
    await run(process.execPath, command, { cwd, env: { PATH: process.env.PATH, ...env } });
  }
  const file = process.execPath;
  return {
    command: { name, file, args: [...args, 'serve'], cwd, env, port, ...options },
    adminUrl: `http://127.0.0.1:${adminPort}`,
  };
}

/** Of the command with which the system runs main.js. */
export function mainArguments(main: string): string[] {
  const [line = ''] = readFileSync(main, 'utf8').split('\n', 1);
  return [...line.split(' ').slice('#!/usr/bin/env -S node'.split(' ').length), main];
}
