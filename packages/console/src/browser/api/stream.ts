import {
  eventsIn,
  type LiveEvent,
  type LiveEvents,
  type ParamsOf,
} from '@storegate/admin-api';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, openStream } from './client.ts';

export interface StreamState {
  readonly status: 'opening' | 'live' | 'lost';
  /** Since when it is lost, RFC 3339. */
  readonly since: string | null;
  /** What the gateway said, or why it was not reached. */
  readonly error: ApiError | null;
}

/** Milliseconds before a lost stream is opened again. */
const AGAIN = 2_000;
/**
 * Milliseconds without a word after which a stream is lost: the gateway sends something every two
 * seconds.
 */
const SILENCE = 5_000;

interface Stream {
  readonly query: ParamsOf<'followLive'>;
  readonly onEvent: (data: LiveEvent['data']) => void;
  readonly onState: (state: StreamState) => void;
}

/**
 * Opens a stream again whenever it is lost. EventSource would not report why a stream was refused.
 */
async function keepOpen(
  { query, onEvent, onState }: Stream,
  stopped: AbortSignal,
): Promise<void> {
  let since: string | null = null;
  onState(CONNECTING);
  while (!stopped.aborted) {
    const silence = new AbortController();
    let error: ApiError | null = null;
    try {
      const stream = await openStream(
        query,
        AbortSignal.any([stopped, silence.signal]),
      );
      since = null;
      onState({ status: 'live', since, error });
      await readEvents(stream, silence, onEvent);
    } catch (failure) {
      if (stopped.aborted) return;
      if (failure instanceof ApiError) error = failure;
      // A connection that breaks is a TypeError, silence an AbortError.
      else if (
        !(failure instanceof TypeError || failure instanceof DOMException)
      )
        throw failure;
    }
    if (stopped.aborted || error?.status === 401) return;
    since ??= new Date().toISOString();
    onState({ status: 'lost', since, error });
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
  }
}

/** Reads until the stream ends. Rejects when it breaks, or is silent for too long. */
async function readEvents(
  stream: ReadableStream<Uint8Array>,
  silence: AbortController,
  onEvent: Stream['onEvent'],
): Promise<void> {
  const reader = stream
    .pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader();
  let text = '';
  for (;;) {
    const timer = setTimeout(() => silence.abort(), SILENCE);
    const { done, value } = await reader
      .read()
      .finally(() => clearTimeout(timer));
    if (done) return;
    const { events, rest } = eventsIn(text + value);
    text = rest;
    for (const { data } of events) onEvent(data);
  }
}

const CONNECTING: StreamState = { status: 'opening', since: null, error: null };

export interface LiveStream extends StreamState {
  readonly paused: boolean;
  readonly setPaused: (paused: boolean) => void;
}

/**
 * Follows `GET /live` while the view is there and does not pause it, again when the query changes.
 */
export function useLive<Name extends keyof LiveEvents>(
  event: Name,
  filter: Omit<ParamsOf<'followLive'>, 'event'>,
  onEvent: (data: LiveEvents[Name]) => void,
): LiveStream {
  const [state, setState] = useState(CONNECTING);
  const [paused, setPaused] = useState(false);
  const newest = useRef(onEvent);
  newest.current = onEvent;
  useEffect(() => {
    if (paused) return;
    const stopping = new AbortController();
    void keepOpen(
      {
        query: { event, ...filter },
        onEvent: (data) => newest.current(data as LiveEvents[Name]),
        onState: setState,
      },
      stopping.signal,
    );
    return () => stopping.abort();
  }, [paused, JSON.stringify(filter)]);
  return { ...(paused ? CONNECTING : state), paused, setPaused };
}
