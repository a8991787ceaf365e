import { h } from 'preact';
import type { Query } from '../api/hooks.ts';
import { clockTime } from '../format.ts';

interface Live {
  readonly query: Query<unknown>;
  readonly paused: boolean;
  readonly setPaused: (paused: boolean) => void;
}

/** Shows whether the data is live, and pauses or resumes it. */
export function LiveSwitch({ query, paused, setPaused }: Live) {
  const toggle = () => {
    setPaused(!paused);
    if (paused) void query.refresh();
  };
  const [look, text] = paused ? ['paused', 'Paused'] : stateOf(query);
  return [
    h('span', { class: `live ${look}`, role: 'status' }, text),
    h(
      'button',
      { type: 'button', onClick: toggle },
      paused ? 'Resume' : 'Pause',
    ),
  ];
}

function stateOf({ value, error, since }: Query<unknown>) {
  if (error !== null)
    return ['lost', `Not live since ${clockTime(since!)}: ${error.message}`];
  return value === null ? ['opening', 'Connecting …'] : ['fresh', 'Live'];
}
