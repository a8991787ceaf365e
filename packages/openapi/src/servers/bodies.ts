import { bodyFault } from '../faults.ts';
import type { RequestResult } from '../types.ts';

export interface BodyLimit {
  /** 1 MiB. `x-max-body-bytes` of an operation can only lower it. */
  readonly maxBodyBytes?: number | undefined;
}

const MAX_BODY_BYTES = 1024 * 1024;

/** `null` for a longer body. */
export async function collect(
  body: AsyncIterable<Uint8Array> | null,
  most = MAX_BODY_BYTES,
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const TOO_LARGE: RequestResult<never> = {
  status: 413,
  faults: [bodyFault('has too many bytes', 'size')],
  operation: null,
  allow: [],
  values: null,
};

export function refusalOf({ status, faults, allow }: RequestResult<unknown>) {
  return {
    headers: {
      'Content-Type': 'application/json',
      ...(status === 405 && { Allow: allow.join(', ') }),
      ...(status === 413 && { Connection: 'close' }),
    },
    body: JSON.stringify({ faults }),
  };
}
