import { setFlagsFromString } from 'node:v8';

/**
 * Tells V8 not to guess which objects will live long. It guesses by what survives a collection, and a collection in the middle of a
 * burst finds that nearly all of it does: from then on parts of every request are made among the old objects and keep the
 * rest of it from being collected while it is young. Without the guess the gateway needs a quarter less CPU for a request.
 * For a process that carries requests, before the first one.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
