import { useEffect, useState } from 'preact/hooks';
import { searchOf } from './api/client.ts';

/**
 * A place in the console: `#/plans/free?new=plan` is the view `plans` with the rest `free` and a
 * query.
 */
export interface Place {
  readonly view: string;
  /** Decoded; empty: none. */
  readonly rest: string;
  readonly query: Readonly<Record<string, string>>;
}

export function placeOf(hash: string): Place {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const [view = '', ...rest] = path.split('/');
  return {
    view,
    rest: decoded(rest.join('/')),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place. Query values that are empty are left out. */
export function linkTo(
  view: string,
  rest = '',
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  return `#/${view}${rest && `/${encodeURIComponent(rest)}`}${searchOf(query)}`;
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
    const listening = new AbortController();
    for (const event of ['hashchange', 'popstate'])
      addEventListener(event, () => setHash(location.hash), {
        signal: listening.signal,
      });
    return () => listening.abort();
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
