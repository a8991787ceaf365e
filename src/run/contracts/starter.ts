import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { parentPort, workerData } from 'node:worker_threads';
import { ANSWER_FD, AnswerReader } from './answer.ts';

export interface Ended {
  readonly kind: 'ended';
  readonly code: number | null;
  readonly signal: string | null;
  readonly bytes: Uint8Array<ArrayBuffer> | null;
}

export type ThreadMessage = { readonly kind: 'started'; readonly pid: number } | Ended;

export type Arguments = readonly string[];

const postMessage = (message: ThreadMessage, transferred: ArrayBuffer[] = []) =>
  parentPort!.postMessage(message, transferred);

const stdio = ['ignore', 'inherit', 'inherit', 'pipe'] as const;
const reader = spawn(process.execPath, workerData as Arguments, { stdio: [...stdio] });
const gathered = new AnswerReader();
// A process without a free file descriptor has no streams.
(reader.stdio?.[ANSWER_FD] as Readable | undefined)?.on('data', (chunk: Buffer) => gathered.add(chunk));
reader.on('close', (code, signal) => {
  const { bytes } = gathered;
  postMessage({ kind: 'ended', code, signal, bytes }, bytes ? [bytes.buffer] : []);
});
// Without a process an error is thrown next.
if (reader.pid !== undefined) postMessage({ kind: 'started', pid: reader.pid });
