import { h } from 'preact';
import { isKeyId } from '../key-id.ts';
import { linkTo } from '../routing.ts';

/** The id of a key or the name of an account, which leads to all that is known of it. `null` is a dash. */
export function ClientLink({ who }: { who: string | null }) {
  if (who === null) return h('span', null, '–');
  return h('a', { href: linkTo('keys-and-accounts', who), class: isKeyId(who) ? 'whole' : undefined }, who);
}
