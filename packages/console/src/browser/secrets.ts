import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { Notice } from './parts/view.ts';
import { goTo, linkTo, type Place } from './routing.ts';

/**
 * As `LIKE_A_KEY` of src/common/secret-mask.ts: whatever begins as a key does, whole or cut short.
 */
const LIKE_A_KEY =
  /[sS][gG]_[A-Za-z]{1,12}_(?:[0-9A-Za-z]{16,}|(?=[A-Za-z]*[0-9]|[a-z]+[A-Z]|[A-Z]+[a-z])[0-9A-Za-z]{8,15})/;
/** As in src/records/operators/tokens.ts. */
const LIKE_A_TOKEN = /sgadmin_[\w-]{16,}/;

/** In the query of a place that was left because it had a secret. */
const REFUSED = { refused: 'secret' };

/**
 * Whether there is something in the text that looks like the secret of a key, or like an operator's
 * token.
 */
export function holdsSecret(text: string): boolean {
  return LIKE_A_KEY.test(text) || LIKE_A_TOKEN.test(text);
}

/**
 * Goes to a view with this query; where somebody has put a secret into it, to one that says why
 * not.
 */
export function goUnlessSecret(
  view: string,
  query: Readonly<Record<string, string>>,
  how: { readonly replace?: boolean } = {},
): void {
  const isSecret = Object.values(query).some(holdsSecret);
  goTo(linkTo(view, '', isSecret ? REFUSED : query), how);
}

/**
 * Whether somebody has written a secret into the address. The place is left at once, and nothing of
 * it must be asked for.
 */
export function useLeftForSecret({ view, rest, query }: Place): boolean {
  const has = [view, rest, ...Object.values(query)].some(holdsSecret);
  useEffect(() => {
    if (has)
      goTo(linkTo(holdsSecret(view) ? 'keys' : view, '', REFUSED), {
        replace: true,
      });
  }, [has]);
  return has;
}

/** Says why a search was not made. */
export function SecretRefused({ query }: Pick<Place, 'query'>) {
  if (query.refused !== REFUSED.refused) return null;
  return h(Notice, { tone: 'bad' }, [
    h('p', null, [
      'This looks like the secret of a key or token. It was not sent, because addresses and searches end up in logs.',
    ]),
    h('p', null, [
      'Enter the id (',
      h('code', null, 'key_…'),
      '), the account or the label. ',
      h('code', null, 'storegate keys identify'),
      ' identifies the owner of a leaked key.',
    ]),
  ]);
}
