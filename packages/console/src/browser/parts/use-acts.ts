import { type ComponentChildren, h } from 'preact';
import { useState } from 'preact/hooks';
import { type Act, ActDialog } from './act.ts';

export interface Acts {
  /** A button that opens the act. */
  readonly button: (act: Act, label?: string) => ComponentChildren;
  /** The open dialog; to be put where it stays although the button may go. */
  readonly dialog: ComponentChildren;
}

/** Acts whose buttons may go when they are done, as that of a ban in a list: the dialog, and its result, stay until they are closed. */
export function useActs(): Acts {
  const [act, setAct] = useState<Act | null>(null);
  return {
    button: (one, label) =>
      h(
        'button',
        {
          key: one.title,
          type: 'button',
          class: one.dangerous ? 'dangerous-quiet' : undefined,
          'aria-haspopup': 'dialog',
          onClick: () => setAct(one),
        },
        label ?? one.verb,
      ),
    dialog: act && h(ActDialog, { key: act.title, act, onClose: () => setAct(null) }),
  };
}
