import { h } from 'preact';
import { linkTo } from '../routing.ts';

const KEY_ID = /^key_[0-9A-Za-z]{16}$/;

/** Whether the text is the whole id of a key; no account is called so. */
export const isKeyId = (text: string): boolean => KEY_ID.test(text);

/** The id of a key or the name of an account, which leads to all that is known of it. `null` is a dash. */
export function ClientLink({ who }: { who: string | null }) {
  if (who === null) return h('span', null, '–');
  return h('a', { href: linkTo('keys-and-accounts', who), class: isKeyId(who) ? 'whole' : undefined }, who);
}
