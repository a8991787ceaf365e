/**
 * Resolves once `condition` holds. Fails with `what` after `patience` milliseconds, which no healthy run needs, on however busy
 * a machine.
 */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  patience = 30_000,
): Promise<void> {
  const deadline = performance.now() + patience;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
