import { writeFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { serialize } from 'node:v8';
import type { ReadResult } from './read.ts';

/** Ends a reading process whose heap is full. */
export const OUT_OF_MEMORY = 'SIGABRT';

/** For the reading process. */
const FD = 3;
/** Bytes: the length of the result comes first. */
const LENGTH_SIZE = 4;

export function writeResult(result: ReadResult): void {
  const bytes = serialize(result);
  const length = Buffer.alloc(LENGTH_SIZE);
  length.writeUInt32LE(bytes.length);
  for (const part of [length, bytes]) writeFileSync(FD, part);
}

/**
 * Into one buffer: chunks that are joined at the end leave three times as much memory with the
 * allocator.
 */
export async function receiveResult(stream: Readable): Promise<ArrayBuffer> {
  let result: Uint8Array<ArrayBuffer> | null = null;
  let at = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const part = result ? chunk : chunk.subarray(LENGTH_SIZE);
    result ??= new Uint8Array(chunk.readUInt32LE());
    result.set(part, at);
    at += part.length;
  }
  return result?.buffer ?? new ArrayBuffer();
}
