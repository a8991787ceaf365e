import { h } from 'preact';
import { isKeyId } from '../../key-id.ts';
import { Sought } from '../../parts/sought.ts';
import { goUnlessSecret } from '../../secrets.ts';

/** Leads to the key whose whole id is given, else to all that have it as a part. */
export function Search({ find = '' }: { find?: string }) {
  function submit(event: SubmitEvent) {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget as HTMLFormElement).get('find') ?? '').trim();
    if (isKeyId(text)) goUnlessSecret('who', text);
    else goUnlessSecret('who', '', { find: text });
  }
  return h(
    'form',
    { class: 'search', role: 'search', onSubmit: submit },
    h(Sought, { label: 'Key, account or label', name: 'find', value: find, required: true, maxLength: 200 }),
    h('button', { type: 'submit' }, 'Find'),
  );
}
