import { h } from 'preact';
import type { Answer } from '../api/hooks.ts';
import { clockTime } from '../format.ts';

interface Live {
  readonly answer: Answer<unknown>;
  readonly paused: boolean;
  readonly setPaused: (paused: boolean) => void;
}

/** Shows whether the data is live, and pauses or resumes it. */
export function LiveSwitch({ answer, paused, setPaused }: Live) {
  const toggle = () => {
    setPaused(!paused);
    if (paused) void answer.refresh();
  };
  const [look, words] = paused ? ['paused', 'Paused'] : stateOf(answer);
  return [
    h('span', { class: `live ${look}`, role: 'status' }, words),
    h(
      'button',
      { type: 'button', onClick: toggle },
      paused ? 'Resume' : 'Pause',
    ),
  ];
}

function stateOf({ value, error, since }: Answer<unknown>) {
  if (error !== null)
    return ['lost', `Not live since ${clockTime(since!)}: ${error.message}`];
  return value === null ? ['opening', 'Connecting …'] : ['fresh', 'Live'];
}
