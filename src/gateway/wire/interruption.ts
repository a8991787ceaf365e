import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../errors/refusals.ts';

const interrupted = new WeakMap<IncomingMessage, Refusal>();

/**
 * Tells the reader of a request's body, now or later, that the rest will not come and why. Unlike `request.destroy()` it
 * leaves the connection open for the answer.
 */
export function interrupt(request: IncomingMessage, refusal: Refusal): void {
  interrupted.set(request, refusal);
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
}

/** Why the body of a request is incomplete; `undefined` while it may still become complete. */
export function interruptionOf(request: IncomingMessage): Refusal | undefined {
  return interrupted.get(request);
}
