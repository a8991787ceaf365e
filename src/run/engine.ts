import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Bytes: V8's own setting. */
const V8_DEFAULT = 60 * 1024;

/** Bytes: V8 chooses less than double for smaller heaps. */
const LARGE_HEAP = 2 * 1024 ** 3;

/** Bytes that old objects may grow between two collections, and the least growth in percent. */
const GROWTH = 64 * 1024 ** 2;
const LEAST_PERCENT = 40;

/**
 * Disables V8's allocation-site pretenuring: in a burst, V8 allocates parts of every request among
 * old objects, which keep the rest alive. And lets old objects grow less between collections than
 * V8 would, which is fourfold. Call before the first request.
 */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  if (getHeapStatistics().heap_size_limit < LARGE_HEAP) return;
  limitGrowth();
  watchCollection();
}

function limitGrowth(): void {
  const percent = Math.round(
    (100 * GROWTH) / getHeapStatistics().used_heap_size,
  );
  setFlagsFromString(
    `--heap-growing-percent=${Math.min(Math.max(percent, LEAST_PERCENT), 100)}`,
  );
}

/** V8 clears weak references only in a collection of old objects. */
const collections = new FinalizationRegistry(() => {
  limitGrowth();
  watchCollection();
});

function watchCollection(): void {
  collections.register({}, undefined);
}

/**
 * Keeps V8 from compiling optimized code, which most of a start ends too early to use
 * (bench/start.ts). Call `optimize` before work that grows with the stored data.
 */
export function postponeOptimizing(): void {
  setFlagsFromString('--max-optimized-bytecode-size=0');
}

export function optimize(): void {
  setFlagsFromString(`--max-optimized-bytecode-size=${V8_DEFAULT}`);
}

/** Less memory for more CPU (a copy of a state of a million keys). Call before loading the work's modules. */
export function saveMemory(): void {
  setFlagsFromString('--optimize-for-size');
}
