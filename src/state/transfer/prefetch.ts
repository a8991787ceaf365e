/** Requests each value while the previous one is in use, so that reads and writes overlap. */
export async function* prefetch<T>(values: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = values[Symbol.asyncIterator]();
  const ask = () => {
    const next = iterator.next();
    // The consumer of `next` gets the error, if it reaches it.
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
