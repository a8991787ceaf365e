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
  /** Default: as shipped. */
  readonly drainDelay?: string;
  /** Lines of gateway.yaml. */
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

/** The last property of a new pet. */
const STATUS = /^ {8}status: \{ \$ref: .*$/m;

/** The shipped limit of failed keys would turn every 401 into a 429. */
const settings = ({ drainDelay = '0s', more = [], project = today }: StoregateOptions) => {
  const existing = readFileSync(join(project, 'config/gateway.schema.json'), 'utf8');
  // Older checkouts have other names.
  const [section, limit] = existing.includes('"authFailureLimit"')
    ? ['http', 'authFailureLimit: { failures: 1000000, window: 1s }']
    : ['listener', 'guard: { failures: 1000000, span: 1s }'];
  const lines = [limit];
  // As in nginx.ts. Older checkouts have no such limit.
  if (existing.includes('"maxRequestsPerConnection"'))
    lines.push('maxRequestsPerConnection: 1000000000');
  if (existing.includes('"bodyBudget"')) lines.push('bodyBudget: 1GiB');
  if (drainDelay !== '0s') lines.push(`drainDelay: ${drainDelay}`);
  return `${section}:\n${lines.map((line) => `  ${line}\n`).join('')}${more.map((line) => `${line}\n`).join('')}`;
};

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
  surroundings: Surroundings,
  options: StoregateOptions,
): Promise<PreparedStoregate> {
  const { node, keys } = surroundings;
  const { project = today } = options;
  const [flags, script, command] = startScript(project);
  const port = await freePort();
  const env = await environment(name, surroundings, options, port);
  const admitted = await makeKey({ node, project, env }, [...flags, script], 'large');
  const refused = await makeKey({ node, project, env }, [...flags, script], 'tiny');
  options.prepare?.(env.STOREGATE_DATA!);
  return {
    command: {
      name,
      file: node,
      args: [...flags, script, ...command],
      cwd: project,
      env,
      port,
      ...(options.log ? { output: '/dev/null' } : {}),
    },
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${env.STOREGATE_ADMIN_PORT}`,
    keys: { admitted, refused, unknown: keys.unknown },
  };
}

/** From the project's `start` script. */
function startScript(project: string): [flags: string[], script: string, command: string[]] {
  const { scripts } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as {
    scripts: { start: string };
  };
  const start = scripts.start.replace(/^exec /, '');
  const [node, ...words] = (
    start.startsWith('node ') ? start : `${firstLine(project)} ${start}`
  ).split(' ');
  const at = words.findIndex((word) => !word.startsWith('-'));
  if (node !== 'node' || at < 0)
    throw new Error(`the start script is not a plain call of node: ${scripts.start}`);
  return [words.slice(0, at), words[at]!, words.slice(at + 1)];
}

/** The command with which the system runs main.js. */
function firstLine(project: string): string {
  const [line] = readFileSync(join(project, 'src/main.js'), 'utf8').split('\n', 1);
  return line!.replace('#!/usr/bin/env -S ', '');
}

async function environment(
  name: string,
  { children, backend, redis }: Surroundings,
  options: StoregateOptions,
  port: number,
): Promise<Record<string, string>> {
  const folder = join(children.folder, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'plans.yaml'), PLANS);
  const contract = readFileSync(join(options.project ?? today, 'config/openapi.yaml'), 'utf8');
  writeFileSync(
    join(folder, 'openapi.yaml'),
    contract.replace(STATUS, `$&\n        visits: ${JSON.stringify(VISITS)}`),
  );
  writeFileSync(join(folder, 'gateway.yaml'), settings(options));
  return {
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: String(port),
    STOREGATE_ADMIN_PORT: String(await freePort()),
    STOREGATE_DATA: join(folder, 'data'),
    STOREGATE_CONFIG: join(folder, 'gateway.yaml'),
    STOREGATE_PLANS: join(folder, 'plans.yaml'),
    STOREGATE_CONTRACT: join(folder, 'openapi.yaml'),
    BACKEND_URL: backend.url,
    ...(options.redis ? { REDIS_URL: redis!.url } : {}),
    ...(options.workers ? { STOREGATE_WORKERS: String(options.workers) } : {}),
    ...(options.log ? {} : { LOG_LEVEL: 'silent' }),
    ...options.env,
  };
}

interface Caller {
  readonly node: string;
  readonly project: string;
  readonly env: Record<string, string>;
}

async function makeKey(
  { node, project, env }: Caller,
  start: string[],
  plan: string,
): Promise<string> {
  const args = [...start, 'keys', 'create', '--plan', plan, '--account', 'bench', '--json'];
  const { stdout } = await run(node, args, {
    cwd: project,
    env: { PATH: process.env.PATH, ...env },
    timeout: 30_000,
  });
  return (JSON.parse(stdout) as { key: string }).key;
}
