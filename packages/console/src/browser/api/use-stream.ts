import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryOf } from '../../calls.ts';
import { followStream, type StreamListener, type StreamState } from './stream.ts';

const CONNECTING: StreamState = { status: 'opening', since: null, error: null };

/** Follows `GET path` while the view is there, again when path or query change. `null` follows nothing. */
export function useStream(
  path: '/live' | null,
  query: QueryOf<'followLive'>,
  onEvent: StreamListener['event'],
): StreamState {
  const [state, setState] = useState(CONNECTING);
  const newest = useRef(onEvent);
  newest.current = onEvent;
  useEffect(() => {
    if (path === null) return;
    return followStream(path, query, { event: (name, data) => newest.current(name, data), state: setState });
  }, [path, JSON.stringify(query)]);
  return path === null ? CONNECTING : state;
}
