/** Serializes work of one name. */
export function createKeyedMutex() {
  const last = new Map<string, Promise<void>>();

  return {
    take<T>(name: string, work: () => Promise<T>): Promise<T> {
      const before = last.get(name);
      const turn = before ? before.then(work) : work();
      const through = turn
        .catch(() => {})
        .then(() => {
          if (last.get(name) === through) last.delete(name);
        });
      last.set(name, through);
      return turn;
    },
  };
}
