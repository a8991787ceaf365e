import { h } from 'preact';
import { isKeyId } from './parts/data.ts';
import { goUnlessSecret } from './secrets.ts';

const REQUEST_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The way to everything: a whole id leads to its page, a part of a name to all that have it. */
export function Search() {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = form.querySelector('input')!.value.trim();
    form.reset();
    if (REQUEST_ID.test(text)) goUnlessSecret('requests', text.toLowerCase());
    else if (isKeyId(text)) goUnlessSecret('keys', text);
    else goUnlessSecret('keys', '', { find: text });
  }

  return h(
    'form',
    {
      class: 'search',
      role: 'search',
      'aria-label': 'Everything',
      onSubmit: submit,
    },
    [
      h('input', {
        type: 'search',
        'aria-label': 'Search',
        placeholder: 'Key, account, label, request id, operation',
        required: true,
        maxLength: 200,
        autoComplete: 'off',
        spellcheck: false,
      }),
    ],
  );
}
