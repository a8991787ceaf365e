const AT_ONCE = 32;

export type InTurns = ReturnType<typeof createInTurns>;

/** Runs works later, a few in each turn of the event loop. */
export function createInTurns() {
  const works: (() => void)[] = [];
  const next = (): void => {
    const first = works.splice(0, AT_ONCE);
    if (works.length > 0) setImmediate(next);
    for (const work of first) work();
  };

  return {
    add(work: () => void): void {
      if (works.push(work) === 1) setImmediate(next);
    },
  };
}
