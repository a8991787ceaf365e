/** The same values, each asked for while the one before is still in use: reading and writing then wait at the same time. */
export async function* prefetch<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  const ask = () => {
    const next = iterator.next();
    // Whoever takes it sees the failure; nobody may come to that.
    next.catch(() => {});
    return next;
  };
  let next = ask();
  try {
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      next = ask();
      yield value;
    }
  } finally {
    await next.catch(() => {});
    await iterator.return?.();
  }
}
