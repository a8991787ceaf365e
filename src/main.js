#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
// @ts-check
import { statSync } from 'node:fs';
import { constants, enableCompileCache } from 'node:module';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/**
 * JavaScript, and the only file that is: Node takes 100 ms to start what strips types, and for all other files finds them stripped.
 *
 * Node keeps modules without their types and compiled, which is a third of a start. Whoever could put other code there could change the
 * modules themselves: the folder is beside them. Where it cannot be written, or the environment says otherwise, Node goes without.
 */
const modules = resolve(import.meta.dirname, '../node_modules');
const compiled = resolve(modules, '.cache/storegate');
// What root left in the folder of somebody else, they could not remove: their next `npm ci` would fail.
const isOurs = process.getuid?.() !== 0 || statSync(modules, { throwIfNoEntry: false })?.uid === 0;
// Processes that this one starts find it too.
if (isOurs && enableCompileCache(compiled).status === constants.compileCacheStatus.ENABLED)
  process.env.NODE_COMPILE_CACHE = compiled;
const { run } = await import('./cli/run.ts');

const stop = new AbortController();
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.on(signal, () => {
    // A second signal ends the process without waiting for the drain.
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

// `storegate config | head` closes the pipe early. A command then has nothing more to print, and a gateway goes on without its output.
const unread = new AbortController();
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    if (error.code !== 'EPIPE') throw error;
    if (stream === process.stdout) unread.abort();
  });
}

/** @param {string} question */
async function ask(question) {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await lines.question(question, { signal: stop.signal });
  } catch (error) {
    // Ctrl-C and Ctrl-D: no answer.
    if (error instanceof Error && error.name === 'AbortError') return '';
    throw error;
  } finally {
    lines.close();
  }
}

process.exitCode = await run(process.argv.slice(2), {
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
