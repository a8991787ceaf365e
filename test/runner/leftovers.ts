/** The pipes to Jest, and resources that end by themselves. */
const IGNORED = new Set(['PipeWrap', 'TTYWrap', 'Immediate']);

// Tests may replace the timers.
const { setTimeout } = globalThis;
const now = performance.now.bind(performance);

/** Resources that keep this process alive, each with its count. */
function running(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (!IGNORED.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

let before = running();

function leftovers(): string[] {
  const more = [...running()].map(([kind, count]) => ({
    kind,
    count: count - (before.get(kind) ?? 0),
  }));
  return more.filter(({ count }) => count > 0).map(({ kind, count }) => `${count} ${kind}`);
}

export function noteRunning(): void {
  before = running();
}

/**
 * Waits up to `patience` ms until nothing runs that did not run before the suite. Returns an error
 * if something does.
 */
export async function leftoverErrors(patience: number): Promise<Error[]> {
  const deadline = now() + patience;
  let remaining: string[];
  let pause = 1;
  do {
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(2 * pause, 100);
    remaining = leftovers();
  } while (remaining.length > 0 && now() < deadline);
  return remaining.length === 0
    ? []
    : [new Error(`The suite left something running: ${remaining.join(', ')}`)];
}
