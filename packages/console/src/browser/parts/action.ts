import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useCall } from '../api/hooks.ts';
import { Field } from './fields.ts';
import { Failure } from './view.ts';

export interface Action {
  /**
   * The button that opens it, and the heading: a verb and what it acts on, such as `Revoke key_1`.
   */
  readonly title: string;
  /** What will happen, and what will not. */
  readonly effect: ComponentChildren;
  /** The word on the button that does it. */
  readonly verb: string;
  /** Fields that it needs; read them from the form data by their names. */
  readonly fields?: ComponentChildren;
  /** Whether it removes something for good. */
  readonly dangerous?: boolean;
  /** Whether a reason must be given. It may be given in any case. */
  readonly needsReason?: boolean;
  /**
   * Does it. What it resolves with is shown until it is closed; nothing: the dialog closes by
   * itself.
   */
  readonly run: (form: FormData, reason: string) => Promise<ComponentChildren>;
  /** Called when the dialog is closed after the act was done: its result stays until then. */
  readonly after?: () => void;
}

/**
 * Asks once whether to do something to the state, with a reason for the audit log. Calls `onDone`
 * afterwards, and `onClose` when it is closed.
 */
function ActionDialog({
  action,
  onDone,
  onClose,
}: {
  action: Action;
  onDone: () => void;
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const { error, busy, run } = useCall();
  const [isDone, setDone] = useState(false);
  const [result, setResult] = useState<ComponentChildren>(null);
  useEffect(() => dialog.current?.showModal(), []);

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    await run(async () => {
      const message = await action.run(form, textIn(form, 'reason'));
      setDone(true);
      onDone();
      if (message) setResult(message);
      else dialog.current?.close();
    });
  }

  /**
   * The browser gives the focus back to the button that opened it, unless that is gone with what
   * was done.
   */
  function closed() {
    const { activeElement, body } = document;
    const isLost =
      activeElement === body || dialog.current?.contains(activeElement);
    onClose();
    if (isDone) action.after?.();
    if (isLost) document.querySelector('h1')?.focus({ preventScroll: true });
  }

  /**
   * Keeps the dialog open during a call, whose response may have a secret that is shown once. Calls
   * end by themselves.
   */
  function stayWhileBusy(event: Event) {
    if (busy) event.preventDefault();
  }

  return h(
    'dialog',
    {
      ref: dialog,
      class: 'action',
      onClose: closed,
      onCancel: stayWhileBusy,
      'aria-labelledby': 'action-title',
    },
    [
      h('h2', { id: 'action-title' }, action.title),
      result
        ? h('div', { role: 'status' }, [
            result,
            h('div', { class: 'buttons' }, [
              h(
                'button',
                { type: 'button', onClick: () => dialog.current?.close() },
                'Close',
              ),
            ]),
          ])
        : h('form', { onSubmit: submit }, [
            h('div', { class: 'effect' }, action.effect),
            action.fields,
            h(Field, {
              label: action.needsReason
                ? 'Reason, for the audit log'
                : 'Reason, for the audit log (optional)',
              name: 'reason',
              maxLength: 500,
              required: action.needsReason,
            }),
            h(Failure, { error }),
            h('div', { class: 'buttons' }, [
              h(
                'button',
                {
                  type: 'submit',
                  class: action.dangerous ? 'dangerous' : undefined,
                  disabled: busy,
                },
                action.verb,
              ),
              h(
                'button',
                {
                  type: 'button',
                  disabled: busy,
                  onClick: () => dialog.current?.close(),
                },
                'Cancel',
              ),
            ]),
          ]),
    ],
  );
}

export interface Actions {
  /** A button that opens the act. */
  readonly button: (action: Action) => ComponentChildren;
  readonly open: (action: Action) => void;
  /** The open dialog; to be put where it stays although the button may go. */
  readonly dialog: ComponentChildren;
}

/**
 * Actions whose buttons may go when they are done, as that of a ban in a list: the dialog, and its
 * result, stay until they are closed. `outdated`: the responses that are out of date after each action.
 */
export function useActions(
  ...outdated: readonly { readonly refresh: () => Promise<void> }[]
): Actions {
  const [action, setAction] = useState<Action | null>(null);
  const onDone = () => {
    for (const query of outdated) void query.refresh();
  };
  return {
    button: (one) => {
      const look = one.dangerous ? 'dangerous-quiet' : undefined;
      const open = {
        'aria-haspopup': 'dialog',
        onClick: () => setAction(one),
      } as const;
      return h(
        'button',
        { key: one.title, type: 'button', class: look, ...open },
        one.verb,
      );
    },
    open: setAction,
    dialog:
      action &&
      h(ActionDialog, {
        key: action.title,
        action,
        onDone,
        onClose: () => setAction(null),
      }),
  };
}

/** A field of a form, without spaces around it; empty if it is missing. */
export const textIn = (form: FormData, name: string): string =>
  String(form.get(name) ?? '').trim();
