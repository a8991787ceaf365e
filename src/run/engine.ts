import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Bytes: V8's own setting. */
const V8_DEFAULT = 60 * 1024;

/** Bytes: V8 chooses less than double for smaller heaps. */
const LARGE_HEAP = 2 * 1024 ** 3;

/**
 * Disables V8's allocation-site pretenuring: in a burst, V8 allocates parts of every request among old objects, which
 * keep the rest alive. And lets old objects only double between collections, where V8 would let them grow fourfold. Call
 * before the first request.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  if (getHeapStatistics().heap_size_limit >= LARGE_HEAP) setFlagsFromString('--heap-growing-percent=100');
}

/**
 * Keeps V8 from compiling optimized code, which most of a start ends too early to use (bench/start.ts). Call `optimize`
 * before work that grows with the stored data.
 */
export function postponeOptimizing(): void {
  setFlagsFromString('--max-optimized-bytecode-size=0');
}

export function optimize(): void {
  setFlagsFromString(`--max-optimized-bytecode-size=${V8_DEFAULT}`);
}

/** Less memory for more CPU (bench/transfer.ts). Call before loading the work's modules. */
export function saveMemory(): void {
  setFlagsFromString('--optimize-for-size');
}
