/** Each takes about ten calls on the stack. */
const DEEPEST = 100;

/**
 * Runs work inside work down to a depth, and deeper work later, so that long chains of references
 * fit the stack. The outermost call returns when all is done.
 */
export function createNesting() {
  const waiting: (() => void)[] = [];
  let depth = 0;
  return (work: () => void): void => {
    if (depth === DEEPEST) {
      waiting.push(work);
      return;
    }
    depth++;
    work();
    if (depth === 1)
      for (let next = waiting.pop(); next; next = waiting.pop()) next();
    depth--;
  };
}
