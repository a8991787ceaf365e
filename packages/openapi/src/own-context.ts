import { blank, exchangeMemory } from './schema/memory.ts';
import { noFiles, unlikeIntegers } from './value-marks.ts';

/** Checks may run between the steps of others: each has its own memory and marks. */
export function* inOwnContext<T>(steps: Generator<void, T, void>): Generator<void, T, void> {
  let memory = null as ReturnType<typeof blank> | null;
  let marks = { any: false, root: false, files: false };
  for (;;) {
    if (memory !== null) {
      exchangeMemory(memory);
      unlikeIntegers.any = marks.any;
      unlikeIntegers.root = marks.root;
      noFiles.any = marks.files;
    }
    try {
      const step = steps.next();
      if (step.done) return step.value;
    } finally {
      marks = { any: unlikeIntegers.any, root: unlikeIntegers.root, files: noFiles.any };
      unlikeIntegers.any = false;
      noFiles.any = false;
      memory = exchangeMemory(blank());
    }
    yield;
  }
}
