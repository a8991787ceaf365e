import { h } from 'preact';
import { type Session, signIn } from './api/client.ts';
import { useCall } from './api/hooks.ts';
import { Field } from './parts/fields.ts';
import { Failure } from './parts/view.ts';

/**
 * The field has no name and its form no target, so that only this script reads the token. It is
 * nowhere kept.
 */
export function SignIn({
  ended,
  onSignedIn,
}: {
  ended: string | null;
  onSignedIn: (session: Session) => void;
}) {
  const { error, busy, run } = useCall();

  async function submit(event: SubmitEvent) {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).querySelector(
      'input',
    )!;
    if (!(await run(async () => onSignedIn(await signIn(field.value.trim())))))
      field.select();
  }

  return h('main', { class: 'sign-in' }, [
    h('h1', null, 'storegate console'),
    ended !== null && h('p', { role: 'status' }, ended),
    h('form', { onSubmit: submit, autoComplete: 'off' }, [
      h(Field, {
        label: 'Admin token',
        type: 'password',
        required: true,
        autoFocus: true,
        spellcheck: false,
        note: [
          'Created with ',
          h('code', null, 'storegate tokens create'),
          ', or the value of ',
          h('code', null, 'STOREGATE_ADMIN_TOKEN'),
          '.',
        ],
      }),
      h(Failure, { error }),
      h('button', { type: 'submit', disabled: busy }, 'Sign in'),
    ]),
  ]);
}
