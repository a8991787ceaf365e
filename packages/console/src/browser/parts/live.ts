import { h } from 'preact';
import type { LiveStream } from '../api/stream.ts';
import { clockTime } from '../format.ts';

/** Shows whether the data is live, and pauses or resumes it. */
export function LiveSwitch(stream: LiveStream) {
  const { status, paused, setPaused } = stream;
  return [
    h(
      'span',
      { class: `stream ${paused ? 'paused' : status}`, role: 'status' },
      words(stream),
    ),
    h(
      'button',
      { type: 'button', onClick: () => setPaused(!paused) },
      paused ? 'Resume' : 'Pause',
    ),
  ];
}

function words({ status, since, error, paused }: LiveStream): string {
  if (paused) return 'Paused';
  if (status === 'lost')
    return `Not live since ${clockTime(since!)}${error ? `: ${error.message}` : ''}`;
  return status === 'live' ? 'Live' : 'Connecting …';
}
