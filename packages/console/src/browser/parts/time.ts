import { h } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { clockTime, fromNow } from '../format.ts';

/** Milliseconds after which relative times are updated. */
const REFRESH_INTERVAL = 10_000;

/** A moment as people say it; the exact one is in its title and for machines. `null` is a dash. */
export function Time({ at, relative = false }: { at: string | null; relative?: boolean }) {
  const [, setText] = useState(0);
  const moves = relative && at !== null;
  useEffect(() => {
    if (!moves) return;
    const timer = setInterval(() => setText((times) => times + 1), REFRESH_INTERVAL);
    return () => clearInterval(timer);
  }, [moves]);
  if (at === null) return h('span', null, '–');
  return h('time', { dateTime: at, title: at }, relative ? fromNow(at) : clockTime(at));
}
