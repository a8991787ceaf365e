#!/usr/bin/env -S node --disable-warning=ExperimentalWarning --max-semi-space-size=16
// @ts-check
import { existsSync, readFileSync, statSync } from 'node:fs';
import module from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

// Every start runs this file by its first line, which alone has the arguments of Node. The size of
// young objects can only be set there; docs/decisions/run.md has the reason for it.
//
// JavaScript, because Node needs 100 ms more to start with a file whose types it must strip. Older
// versions of Node must read this far.
const { engines } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);
const modules = fileURLToPath(new URL('../node_modules', import.meta.url));
if (!existsSync(modules)) {
  process.stderr.write(
    'The dependencies of storegate are missing. Run `npm ci --omit=dev` in its folder.\n',
  );
  process.exit(1);
}
const oldest = engines.node.slice(2);
if (isOlder(process.versions.node, oldest)) {
  const { runInNewerNode } = await import('./newer-node.js');
  process.exit(await runInNewerNode(`${modules}/.cache/node`, oldest));
}

// Node keeps compiled modules, which saves a third of a start. They are beside the modules, so
// changing them takes the same permission. If the folder cannot be written, or the environment
// disables the cache, Node compiles again.
const compiled = `${modules}/.cache/storegate`;
// In a folder of another user, files of root would make that user's next `npm ci` fail.
const isOurs = process.getuid?.() !== 0 || statSync(modules).uid === 0;
// Child processes use the same folder.
if (
  isOurs &&
  module.enableCompileCache(compiled).status ===
    module.constants.compileCacheStatus.ENABLED
)
  process.env.NODE_COMPILE_CACHE = compiled;

// Milliseconds. npm sends Ctrl-C to a process that the terminal has sent it to.
const REPEATED = 500;
const stop = new AbortController();
let stoppedAt = Number.POSITIVE_INFINITY;
// First, because loading the rest takes time, and the system ignores a signal for a first process
// without a listener.
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    // A second signal ends the process without waiting for the drain.
    if (performance.now() - stoppedAt > REPEATED) process.exit(130);
    stoppedAt = Math.min(stoppedAt, performance.now());
    stop.abort();
  });
}

// npx, and npm for most scripts, run a command in a shell. npm ends the shell alone.
if (process.env.npm_lifecycle_event !== undefined) {
  const shell = process.ppid;
  const watch = () => process.ppid !== shell && stop.abort();
  setInterval(watch, 250).unref();
}

const { run } = await import('./cli/run.ts');

// `storegate config | head` closes the pipe early, and a disk may be full. A command then has
// nothing more to print, and a gateway continues.
const unread = new AbortController();
process.stdout.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
  unread.abort();
  if (error.code === 'EPIPE') return;
  process.stderr.write(`The output cannot be written: ${error.message}\n`);
  process.exitCode = 1;
});
// No output remains that could have the error.
process.stderr.on('error', () => {});

/** @param {string} question */
async function ask(question) {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({
    input: process.stdin,
    output: process.stdout,
  });
  try {
    return await lines.question(question, { signal: stop.signal });
  } catch (error) {
    // Ctrl-C and Ctrl-D: no input.
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  } finally {
    lines.close();
  }
}

const exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  out: (line) => process.stdout.write(line),
  err: (line) => process.stderr.write(line),
  stop: stop.signal,
  unread: unread.signal,
  ask: process.stdin.isTTY && process.stdout.isTTY ? ask : undefined,
  input: () => text(process.stdin),
  isTerminal: process.stdout.isTTY === true,
  width: process.stdout.columns,
  errIsTerminal: process.stderr.isTTY === true,
  onHangup(listener) {
    process.on('SIGHUP', listener);
    return () => void process.off('SIGHUP', listener);
  },
});
process.exitCode ||= exitCode;

/** @param {string} version @param {string} other */
function isOlder(version, other) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [otherMajor = 0, otherMinor = 0] = other.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}
