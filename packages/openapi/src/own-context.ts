import { blank, exchangeMemory, forget, type Kept } from './schema/memory.ts';
import { noFiles, unlikeIntegers } from './value-marks.ts';

interface Context {
  readonly memory: Kept;
  readonly integers: boolean;
  readonly rootInteger: boolean;
  readonly files: boolean;
}

/** Checks may run between the steps of others: each has its own memory and marks. */
export function* inOwnContext<T>(steps: Generator<void, T, void>): Generator<void, T, void> {
  for (;;) {
    let isOver = true;
    try {
      const step = steps.next();
      if (step.done) return step.value;
      isOver = false;
    } finally {
      if (isOver) leave();
    }
    const context = takeOut();
    yield;
    enter(context);
  }
}

function leave(): void {
  forget();
  unlikeIntegers.any = false;
  noFiles.any = false;
}

function takeOut(): Context {
  const { any: integers, root: rootInteger } = unlikeIntegers;
  const { any: files } = noFiles;
  unlikeIntegers.any = false;
  noFiles.any = false;
  return { memory: exchangeMemory(blank()), integers, rootInteger, files };
}

function enter({ memory, integers, rootInteger, files }: Context): void {
  exchangeMemory(memory);
  unlikeIntegers.any = integers;
  unlikeIntegers.root = rootInteger;
  noFiles.any = files;
}
