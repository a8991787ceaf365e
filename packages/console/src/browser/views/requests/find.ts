import { h } from 'preact';
import { Field } from '../../parts/fields.ts';
import { Filters } from '../../parts/filters.ts';
import { goTo, linkTo } from '../../routing.ts';

const REQUEST_ID = '[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}';

/** Takes the id of a request, and opens its view. */
export function FindRequest({ id = '' }: { id?: string }) {
  return h(
    Filters,
    {
      label: 'Explain a request',
      verb: 'Explain',
      onSubmit: ({ request = '' }) => goTo(linkTo('requests', request.toLowerCase())),
    },
    h(Field, {
      label: 'Explain a request: its X-Request-Id',
      name: 'request',
      defaultValue: id,
      required: true,
      // Pasted text may have spaces around it.
      pattern: `\\s*${REQUEST_ID}\\s*`,
      title: 'For example 0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e, from the header X-Request-Id of the response.',
      placeholder: '0b7f4a52-63c1-4c0e-9d0f-2f6f1c9a7b3e',
      spellcheck: false,
    }),
  );
}
