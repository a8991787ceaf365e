import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueryOf } from '../../calls.ts';
import { ApiError, openStream, type Query } from './client.ts';
import { eventsIn } from './events.ts';

/** How a stream of events is. */
export interface StreamState {
  readonly status: 'opening' | 'live' | 'lost';
  /** Since when it is lost, RFC 3339. */
  readonly since: string | null;
  /** What the gateway said, or why it was not reached. */
  readonly error: ApiError | null;
}

export interface StreamListener {
  readonly event: (name: string, data: unknown) => void;
  readonly state: (state: StreamState) => void;
}

/** Milliseconds before a lost stream is opened again. */
const AGAIN = 2_000;
/** Milliseconds without a word after which a stream is lost: the gateway sends something every two seconds. */
const SILENCE = 5_000;

/**
 * Follows a stream of events of the admin API, and opens it again whenever it is lost; returns how to stop. EventSource
 * would not report why a stream was refused.
 */
export function followStream(path: string, query: Query, listener: StreamListener): () => void {
  const stopping = new AbortController();
  void keepOpen(path, query, listener, stopping.signal);
  return () => stopping.abort();
}

async function keepOpen(path: string, query: Query, listener: StreamListener, stopped: AbortSignal): Promise<void> {
  let since: string | null = null;
  listener.state({ status: 'opening', since, error: null });
  while (!stopped.aborted) {
    const silence = new AbortController();
    let error: ApiError | null = null;
    try {
      const stream = await openStream(path, query, AbortSignal.any([stopped, silence.signal]));
      since = null;
      listener.state({ status: 'live', since, error });
      await readEvents(stream, silence, listener.event);
    } catch (failure) {
      if (stopped.aborted) return;
      if (failure instanceof ApiError) error = failure;
      // A connection that breaks is a TypeError, silence an AbortError.
      else if (!(failure instanceof TypeError || failure instanceof DOMException)) throw failure;
    }
    if (stopped.aborted || error?.status === 401) return;
    since ??= new Date().toISOString();
    listener.state({ status: 'lost', since, error });
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** Reads until the stream ends. Rejects when it breaks, or is silent for too long. */
async function readEvents(
  stream: ReadableStream<Uint8Array>,
  silence: AbortController,
  emit: StreamListener['event'],
): Promise<void> {
  const reader = stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let text = '';
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const { events, rest } = eventsIn(text + value);
    text = rest;
    for (const { name, data } of events) emit(name, data);
  }
}

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
