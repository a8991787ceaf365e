import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { ANSWER_FD, AnswerReader } from './answer.ts';

/** How the process ended. */
export interface Ended {
  readonly kind: 'ended';
  readonly code: number | null;
  readonly signal: string | null;
  /** `null` if its answer is not whole. */
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

/** What the thread says. */
export type ThreadMessage = { readonly kind: 'started'; readonly pid: number } | Ended;

/** The arguments of the process that this thread starts. */
export type Arguments = readonly string[];

const postMessage = (message: ThreadMessage, transferred: ArrayBuffer[] = []) =>
  parentPort!.postMessage(message, transferred);

const stdio = ['ignore', 'inherit', 'inherit', 'pipe'] as const;
const reader = spawn(process.execPath, workerData as Arguments, { stdio: [...stdio] });
const gathered = new AnswerReader();
// Where the system has no file descriptor left, there are no streams at all; the error says so.
(reader.stdio?.[ANSWER_FD] as Readable | undefined)?.on('data', (chunk: Buffer) => gathered.add(chunk));
reader.on('close', (code, signal) => {
  const { bytes } = gathered;
  postMessage({ kind: 'ended', code, signal, bytes }, bytes ? [bytes.buffer] : []);
});
// Without a process an error is thrown next, and ends this thread.
if (reader.pid !== undefined) postMessage({ kind: 'started', pid: reader.pid });
