import { h } from 'preact';
import { isKeyId } from '../../key-id.ts';
import { Filters } from '../../parts/filters.ts';
import { SearchField } from '../../parts/search-field.ts';
import { goUnlessSecret } from '../../secrets.ts';

/** Leads to the key whose whole id is given, else to all that have it as a part. */
export function Search({ find = '' }: { find?: string }) {
  function look({ find: text = '' }: Readonly<Record<string, string>>) {
    if (isKeyId(text)) goUnlessSecret('keys-and-accounts', text);
    else goUnlessSecret('keys-and-accounts', '', { find: text });
  }
  return h(Filters, { label: 'Find a key or an account', verb: 'Find', onSubmit: look }, [
    h(SearchField, { label: 'Key, account or label', name: 'find', value: find, required: true, maxLength: 200 }),
  ]);
}
