import type { IncomingMessage, ServerResponse } from 'node:http';
import { Gathering } from '../../common/gathering.ts';
import { Refusal } from '../../errors/refusals.ts';
import { CallerLeft } from './caller-left.ts';
import { type Head, hasBody } from './head.ts';
import { interruptionOf } from './interruption.ts';

/** A request whose body may still be arriving. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: Head;
}

/**
 * Reads the whole body, at most `most` bytes; `null` when there is none. A caller that sent `Expect: 100-continue` gets its
 * 100 only here, after the gateway has checked its key and declared length (RFC 9110 section 10.1.1). Rejects with a Refusal
 * (too large, too slow, malformed) or CallerLeft.
 */
export async function readBody({ request, response, head }: Incoming, most: number): Promise<Buffer | null> {
  if (!hasBody(head)) return null;
  const interruption = interruptionOf(request);
  if (interruption) throw interruption;
  // HTTP/1.0 has no interim answers.
  if (head.expect !== undefined && request.httpVersionMinor > 0) response.writeContinue();
  return new Promise((resolve, reject) => {
    const body = new Gathering();
    request.on('data', (chunk: Buffer) => {
      if (body.size + chunk.length <= most) {
        body.add(chunk);
      } else {
        request.pause();
        reject(tooLarge(most));
      }
    });
    request.on('end', () => resolve(body.whole));
    request.on('error', (error) => {
      reject(error instanceof Refusal ? error : new CallerLeft('the request body broke off', { cause: error }));
    });
  });
}

/** `most`: the limit in bytes. */
export function tooLarge(most: number): Refusal {
  return new Refusal('payload_too_large', { message: `The request body is larger than ${most} bytes.`, close: true });
}
