/** Resolves once `condition` holds; fails with `what` after ten seconds, or `patience` milliseconds, which no healthy run needs. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  patience = 10_000,
): Promise<void> {
  const deadline = performance.now() + patience;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never happened: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
