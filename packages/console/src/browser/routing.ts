import { useEffect, useState } from 'preact/hooks';

/** A place in the console: `#/plans/free?new=plan` is the view `plans` with the rest `free` and a query. */
export interface Place {
  readonly view: string;
  /** Decoded; empty: none. */
  readonly rest: string;
  readonly query: Readonly<Record<string, string>>;
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [view = '', ...rest] = path.split('/');
  return { view, rest: decoded(rest.join('/')), query: Object.fromEntries(new URLSearchParams(query)) };
}

/** The address of a place. Query values that are empty are left out. */
export function linkTo(view: string, rest = '', query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const text = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  return `#/${view}${rest === '' ? '' : `/${encodeURIComponent(rest)}`}${text}`;
}

/** Goes to a place. `replace` leaves no step back to the place before. */
export function goTo(link: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', link);
  else history.pushState(null, '', link);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function usePlace(): Place {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener('hashchange', changed);
    addEventListener('popstate', changed);
    return () => {
      removeEventListener('hashchange', changed);
      removeEventListener('popstate', changed);
    };
  }, []);
  return placeOf(hash);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A hand-written address with a stray per cent sign: it names nothing, and the view says so.
  }
}
