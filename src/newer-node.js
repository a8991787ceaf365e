// @ts-check
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';

// Older versions of Node run this file.

const { arch, platform, version } = process;
/** The package with the program for this machine alone. */
const PACKAGE = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;

/**
 * Runs the command in a Node.js that npm fetches into `folder` once. Resolves with its exit code.
 *
 * @param {string} folder
 * @param {string} oldest
 */
export async function runInNewerNode(folder, oldest) {
  const program = `${folder}/${PACKAGE}`;
  const needs = `storegate needs Node.js ${oldest} or newer, and this is ${version}.`;
  if (!existsSync(program)) {
    process.stderr.write(`${needs} Fetching Node.js 24 with npm, once ...\n`);
    try {
      fetchInto(folder);
    } catch (error) {
      // Another command may have fetched it meanwhile.
      if (!existsSync(program)) {
        process.stderr.write(
          `${error}\nInstall Node.js ${oldest} or newer, or let npm download packages into ${folder}.\n`,
        );
        return 1;
      }
    }
  }
  const args = [...process.execArgv, ...process.argv.slice(1)];
  // Before the command runs, which a signal would leave behind.
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
    process.on(signal, () => child.kill(signal));
  const child = spawn(`${program}/bin/node`, args, { stdio: 'inherit' });
  // As in main.js.
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event !== undefined)
    setInterval(() => process.ppid !== parent && child.kill(), 250).unref();
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

/**
 * Whole, or not at all.
 *
 * @param {string} folder
 */
function fetchInto(folder) {
  const own = `${folder}/${process.pid}`;
  mkdirSync(own, { recursive: true });
  try {
    const args = [
      '--prefix',
      own,
      '--no-save',
      '--loglevel=error',
      `${PACKAGE}@24`,
    ];
    const { status, error } = spawnSync('npm', ['install', ...args], {
      stdio: ['ignore', process.stderr, process.stderr],
    });
    if (status !== 0) throw error ?? new Error('npm install failed.');
    renameSync(`${own}/node_modules/${PACKAGE}`, `${folder}/${PACKAGE}`);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
