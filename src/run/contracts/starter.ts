import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { OUT_OF_MEMORY, receiveResult } from './pipe.ts';

export type Arguments = readonly string[];

/** Characters. */
const MOST_ERRORS = 64 * 1024;

export type ThreadMessage =
  | { readonly kind: 'started'; readonly pid: number }
  | {
      readonly kind: 'ended';
      readonly code: number | null;
      readonly signal: string | null;
      /** Complete if `code` is 0. */
      readonly bytes: ArrayBuffer;
    };

const postMessage = (message: ThreadMessage, transferred: ArrayBuffer[] = []) =>
  parentPort!.postMessage(message, transferred);

const reader = spawn(process.execPath, workerData as Arguments, {
  stdio: ['ignore', 'inherit', 'pipe', 'pipe'],
});
let errors = '';
reader.stderr!.on('data', (chunk: Buffer) => {
  errors = (errors + chunk).slice(0, MOST_ERRORS);
});
// Without a process an error is thrown next.
if (reader.pid !== undefined) {
  postMessage({ kind: 'started', pid: reader.pid });
  const result = receiveResult(reader.stdio[3] as Readable);
  reader.on('close', async (code, signal) => {
    const bytes = await result;
    // V8's long report of a full heap becomes a sentence.
    if (signal !== OUT_OF_MEMORY) process.stderr.write(errors);
    postMessage({ kind: 'ended', code, signal, bytes }, [bytes]);
  });
}
