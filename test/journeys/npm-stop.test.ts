import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { adminOf } from '../support/admin.ts';
import { patientText } from '../support/deadlines.ts';
import { bodyOf } from '../support/failure.ts';
import { freePort } from '../support/free-port.ts';
import { COMPILED } from '../support/storegate.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { until } from '../support/until.ts';
import { type FakeBackend, fakeBackend } from '../support/upstream.ts';
import { get, isAlive } from '../support/workers.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const folder = temporaryFolders();
let backend: FakeBackend;
let held: ServerResponse[] = [];
let launcher: ChildProcess | null = null;

beforeAll(async () => {
  backend = await fakeBackend((_, response) => void held.push(response));
});
afterAll(() => backend.close());
afterEach(() => {
  if (launcher !== null && isAlive(-launcher.pid!)) process.kill(-launcher.pid!, 'SIGKILL');
  launcher = null;
  for (const response of held) response.destroy();
  held = [];
});

/** Where `storegate` is installed as a dependency. */
function project(): string {
  const cwd = folder();
  const modules = join(cwd, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  symlinkSync(ROOT, join(modules, 'storegate'));
  symlinkSync('../storegate/src/main.js', join(modules, '.bin/storegate'));
  const scripts = { replaced: 'exec storegate serve' };
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'shop', scripts }));
  return cwd;
}

interface Started {
  readonly url: string;
  readonly adminUrl: string;
}

async function start([command, ...args]: readonly string[], cwd: string): Promise<Started> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const home = folder();
  writeFileSync(join(home, 'gateway.yaml'), patientText('log: { requests: false }\n'));
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    NODE_COMPILE_CACHE: COMPILED,
    STOREGATE_CONFIG: join(home, 'gateway.yaml'),
    STOREGATE_CONTRACT: 'none',
    STOREGATE_DATA: join(home, 'data'),
    BACKEND_URL: backend.url,
    STOREGATE_HOST: '127.0.0.1',
    STOREGATE_PORT: `${port}`,
    STOREGATE_ADMIN_PORT: `${adminPort}`,
  };
  const child = spawn(command!, args, {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  launcher = child;
  const err = text(child.stderr);
  await until(
    'it is ready or has ended',
    async () => child.exitCode !== null || (await isReady(adminUrl)),
  );
  if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}: ${await err}`);
  return { url: `http://127.0.0.1:${port}`, adminUrl };
}

const isReady = (adminUrl: string) =>
  fetch(`${adminUrl}/health/ready`).then(
    ({ ok }) => ok,
    () => false,
  );

const isClosed = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

const inClone = () => ROOT;
const NPX = ['npx', 'storegate', 'serve'];

async function requestInFlight({
  url,
  adminUrl,
}: Started): Promise<{ readonly status: () => Promise<number> }> {
  const draft = { account: 'acme', plan: 'enterprise', limits: '9/day' };
  const made = await adminOf(adminUrl)('POST', '/keys', draft);
  const response = get(`${url}/pets`, { 'X-API-Key': bodyOf(made).key });
  await until('the backend has the request', () => held.length === 1);
  return {
    async status() {
      await until('the gateway stops', async () => !(await isReady(adminUrl)));
      held[0]!.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      return (await response).status;
    },
  };
}

const groupGone = () => until('no process is left', () => !isAlive(-launcher!.pid!));

/** With a shell between npm and the gateway npm ends before it. */
test.each<[what: string, command: readonly string[], cwd: () => string, waits: boolean]>([
  ['npm start', ['npm', 'start'], inClone, true],
  ['npx', NPX, project, false],
])('a gateway started by %s stops at SIGTERM to npm', async (_, command, cwd, waits) => {
  const started = await start(command, cwd());
  const exit = once(launcher!, 'exit');
  const request = await requestInFlight(started);
  launcher!.kill('SIGTERM');
  expect(await request.status()).toBe(200);
  if (waits) {
    expect(await exit).toEqual([0, null]);
    expect(await isClosed(started.adminUrl)).toBe(true);
  }
  await groupGone();
});

test('a gateway behind a shell of npm finishes its requests at Ctrl-C', async () => {
  const request = await requestInFlight(await start(NPX, project()));
  process.kill(-launcher!.pid!, 'SIGINT');
  expect(await request.status()).toBe(200);
  await groupGone();
});

/**
 * The first process of a container has no default handling of signals, and its end ends all others.
 */
const FIRST_PROCESS = ['unshare', '--pid', '--fork', '--kill-child'];
const canUnshare = spawnSync(FIRST_PROCESS[0]!, [...FIRST_PROCESS.slice(1), 'true']).status === 0;
const FIRST: readonly (readonly [string, readonly string[], () => string])[] = [
  ['the gateway', [process.execPath, join(ROOT, 'src/main.js'), 'serve'], inClone],
  ['npm run, with exec,', ['npm', 'run', 'replaced'], project],
];

(canUnshare ? test.each(FIRST) : test.skip.each(FIRST))(
  '%s as the first process of a container finishes a request at SIGTERM',
  async (_, command, cwd) => {
    const request = await requestInFlight(await start([...FIRST_PROCESS, ...command], cwd()));
    const { pid } = launcher!;
    const first = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'));
    const exit = once(launcher!, 'exit');
    process.kill(first, 'SIGTERM');
    expect(await request.status()).toBe(200);
    expect(await exit).toEqual([0, null]);
    await groupGone();
  },
);
