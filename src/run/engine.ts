import { setFlagsFromString } from 'node:v8';

/**
 * Disables V8's allocation-site pretenuring: in a burst, V8 allocates parts of every request among old objects, which
 * keep the rest alive. Call before the first request.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

/** Less memory for more CPU (bench/transfer.ts). Call before loading the work's modules. */
export function saveMemory(): void {
  setFlagsFromString('--optimize-for-size');
}
