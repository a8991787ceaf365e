import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import type { Command } from '../children.ts';
import { type Keys, VISITS } from '../work.ts';
import type { Running, Surroundings } from './target.ts';

const run = promisify(execFile);
const today = new URL('../../', import.meta.url).pathname;

export interface StoregateOptions {
  readonly redis?: boolean;
  readonly workers?: number;
  /** The shipped log, a line per request. */
  readonly log?: boolean;
  /** Lines in `http` of gateway.yaml, and others. */
  readonly http?: readonly string[];
  readonly more?: readonly string[];
  /** Default: this checkout. */
  readonly project?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with the data folder before the gateway starts. */
  readonly prepare?: (data: string) => void;
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
const HTTP = [
  'authFailureLimit: { failures: 1000000, window: 1s }',
  'maxRequestsPerConnection: 1000000000',
  'bodyBudget: 1GiB',
];

/** The last property of a new pet. */
const STATUS = /^ {8}status: \{ \$ref: .*$/m;

/** Restartable at the same addresses. */
export interface PreparedStoregate {
  readonly command: Command;
  readonly url: string;
  readonly adminUrl: string;
  readonly keys: Keys;
}

export async function startStoregate(
  name: string,
  surroundings: Surroundings,
  options: StoregateOptions,
): Promise<Running> {
  const { command, url, keys } = await prepareStoregate(name, surroundings, options);
  return { url, keys, ...(await surroundings.children.start(command)) };
}

/**
 * Runs what `npm start` runs; only addresses, limits and the log differ from the shipped settings.
 */
export async function prepareStoregate(
  name: string,
  { children, backend, redis, keys: { unknown } }: Surroundings,
  options: StoregateOptions,
): Promise<PreparedStoregate> {
  const { project = today, workers, http = [], more = [] } = options;
  const folder = join(children.folder, name);
  const file = (name: string) => join(folder, name);
  mkdirSync(folder);
  writeFileSync(file('plans.yaml'), PLANS);
  const contract = readFileSync(join(project, 'config/openapi.yaml'), 'utf8');
  const visits = `$&\n        visits: ${JSON.stringify(VISITS)}`;
  writeFileSync(file('openapi.yaml'), contract.replace(STATUS, visits));
  const settings = ['http:', ...[...HTTP, ...http].map((line) => `  ${line}`), ...more];
  writeFileSync(file('gateway.yaml'), `${settings.join('\n')}\n`);
  const { args, cwd, env, port, ...urls } = await gatewayIn(folder, project, {
    STOREGATE_CONTRACT: file('openapi.yaml'),
    BACKEND_URL: backend.url,
    ...(options.redis && { REDIS_URL: redis!.url }),
    ...(workers && { STOREGATE_WORKERS: `${workers}` }),
    ...(!options.log && { LOG_LEVEL: 'silent' }),
    ...options.env,
  });
  const makeKey = async (plan: string) => {
    const create = ['keys', 'create', '--plan', plan, '--account', 'bench', '--json'];
    const { stdout } = await run(process.execPath, [...args, ...create], {
      cwd,
      env: { PATH: process.env.PATH, ...env },
      timeout: 120_000,
    });
    return (JSON.parse(stdout) as { key: string }).key;
  };
  const keys = { admitted: await makeKey('large'), refused: await makeKey('tiny'), unknown };
  options.prepare?.(file('data'));
  const command = { name, file: process.execPath, args: [...args, 'serve'], cwd, env, port };
  return {
    command: options.log ? { ...command, output: '/dev/null' } : command,
    ...urls,
    keys,
  };
}

/** The arguments of Node.js, the environment and the addresses of a gateway with files in `folder`. */
export async function gatewayIn(
  folder: string,
  project: string,
  more: Readonly<Record<string, string>>,
) {
  const [port, adminPort] = [await freePort(), await freePort()];
  return {
    args: mainArguments(project),
    cwd: folder,
    port,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    env: {
      STOREGATE_HOST: '127.0.0.1',
      STOREGATE_PORT: `${port}`,
      STOREGATE_ADMIN_PORT: `${adminPort}`,
      STOREGATE_DATA: join(folder, 'data'),
      STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
      STOREGATE_PLANS: join(folder, 'plans.yaml'),
      ...more,
    },
  };
}

/** Of the command with which the system runs main.js. */
function mainArguments(project: string): string[] {
  const main = join(project, 'src/main.js');
  const [line = ''] = readFileSync(main, 'utf8').split('\n', 1);
  return [...line.split(' ').slice('#!/usr/bin/env -S node'.split(' ').length), main];
}
