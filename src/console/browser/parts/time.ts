import { h } from 'preact';
import { clockTime, fromNow } from '../words.ts';

/** A moment as people say it; the exact one is in its title and for machines. `null` is a dash. */
export function Time({ at, relative = false }: { at: string | null; relative?: boolean }) {
  if (at === null) return h('span', null, '–');
  return h('time', { dateTime: at, title: at }, relative ? fromNow(at) : clockTime(at));
}
