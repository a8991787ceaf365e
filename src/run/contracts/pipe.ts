import { writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { serialize } from 'node:v8';
import type { Answer } from './read.ts';

/** Ends a reading process whose heap is full. */
export const OUT_OF_MEMORY = 'SIGABRT';

/** For the reading process. */
const FD = 3;
/** Bytes: the length of the result comes first. */
const LENGTH_SIZE = 4;

export function writeAnswer(answer: Answer): void {
  const bytes = serialize(answer);
  const length = Buffer.alloc(LENGTH_SIZE);
  length.writeUInt32LE(bytes.length);
  for (const part of [length, bytes]) writeFileSync(FD, part);
}

/**
 * Into one buffer: chunks that are joined at the end leave three times as much memory with the
 * allocator.
 */
export async function receiveAnswer(stream: Readable): Promise<ArrayBuffer> {
  let answer: Uint8Array<ArrayBuffer> | null = null;
  let at = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const part = answer ? chunk : chunk.subarray(LENGTH_SIZE);
    answer ??= new Uint8Array(chunk.readUInt32LE());
    answer.set(part, at);
    at += part.length;
  }
  return answer?.buffer ?? new ArrayBuffer();
}
