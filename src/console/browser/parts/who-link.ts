import { h } from 'preact';
import { linkTo } from '../routing.ts';

/** The id of a key or the name of an account, which leads to all that is known of it. `null` is a dash. */
export function WhoLink({ who }: { who: string | null }) {
  return who === null ? h('span', null, '–') : h('a', { href: linkTo('who', who) }, who);
}
