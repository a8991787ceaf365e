import { h } from 'preact';
import type { StreamState } from '../api/stream.ts';
import { clockTime } from '../format.ts';

interface LiveSwitchProps {
  readonly state: StreamState;
  readonly paused: boolean;
  readonly onPause: (paused: boolean) => void;
}

/** Shows whether the data is live, and pauses or resumes it. */
export function LiveSwitch({ state, paused, onPause }: LiveSwitchProps) {
  return [
    h('span', { class: `stream ${paused ? 'paused' : state.status}`, role: 'status' }, words(state, paused)),
    h('button', { type: 'button', onClick: () => onPause(!paused) }, paused ? 'Resume' : 'Pause'),
  ];
}

function words({ status, since, error }: StreamState, paused: boolean): string {
  if (paused) return 'Paused';
  if (status === 'lost') return `Not live since ${clockTime(since!)}${error ? `: ${error.message}` : ''}`;
  return status === 'live' ? 'Live' : 'Connecting …';
}
