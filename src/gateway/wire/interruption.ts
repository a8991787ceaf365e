import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../errors/refusals.ts';

const interrupted = new WeakMap<IncomingMessage, Refusal>();

/**
 * Tells whoever reads the body of a request, now or later, that its rest will not come and why. The connection stays open
 * for the answer, which is what distinguishes this from `request.destroy()`.
 */
export function interrupt(request: IncomingMessage, refusal: Refusal): void {
  interrupted.set(request, refusal);
  if (request.listenerCount('error') > 0) request.emit('error', refusal);
}

/** Why the body of a request is not whole; `undefined` while it may still become so. */
export function interruptionOf(request: IncomingMessage): Refusal | undefined {
  return interrupted.get(request);
}
