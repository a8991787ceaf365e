import type { IncomingMessage, ServerResponse } from 'node:http';
import { Refusal } from '../../errors/refusals.ts';
import type { Head } from './head.ts';

/** A request whose body may still be on its way. */
export interface Incoming {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly head: Head;
}

/** `most`: the limit in bytes. */
export function tooLarge(most: number): Refusal {
  return new Refusal('payload_too_large', { message: `The request body is larger than ${most} bytes.`, close: true });
}
