import type { IncomingMessage } from 'node:http';
import { invalidRequest, StoreError } from '../errors.ts';
import { parseJson } from '../json.ts';

/** The most bytes a body may have: 1 MiB. */
export const maxBodyBytes = 1024 * 1024;

/**
 * Reads the JSON body of a request, up to the limit.
 * @throws StoreError `payload_too_large`, `unsupported_media_type` or `invalid_request`.
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const { headers } = request;
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBodyBytes) throw tooLarge();
  if (length === 0 && headers['transfer-encoding'] === undefined)
    throw invalidRequest([{ in: 'body', pointer: '', message: 'is required' }]);
  if (!isPlainJson(headers['content-type'], headers['content-encoding']))
    throw new StoreError('unsupported_media_type', 'The body must be application/json, without a content coding.');
  return parseJson(await readBytes(request));
}

function isPlainJson(type = '', coding = 'identity'): boolean {
  return /^application\/json *(;|$)/i.test(type) && coding.toLowerCase() === 'identity';
}

async function readBytes(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  // Leaving this loop early would destroy the connection before the refusal is written.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    size += chunk.length;
    if (size > maxBodyBytes) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

function tooLarge(): StoreError {
  return new StoreError('payload_too_large', `The body may have at most ${maxBodyBytes} bytes.`);
}
