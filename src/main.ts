#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { text } from 'node:stream/consumers';
import { run } from './cli/run.ts';

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // A second signal ends the process without waiting for the drain.
    if (stop.signal.aborted) process.exit(130);
    stop.abort();
  });
}

process.exitCode = await run(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  out: (line) => process.stdout.write(line),
  err: (line) => process.stderr.write(line),
  stop: stop.signal,
  input: () => text(process.stdin),
  isTerminal: process.stdout.isTTY === true,
  errIsTerminal: process.stderr.isTTY === true,
  onHangup(listener) {
    process.on('SIGHUP', listener);
    return () => void process.off('SIGHUP', listener);
  },
});
