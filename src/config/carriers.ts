import type { Carriers } from '../common/carriers.ts';

/** `bearer`, or the name of a header. */
export type CarrierEntry = 'bearer' | { readonly header: string };

export function carriersIn(entries: readonly CarrierEntry[]): Carriers {
  return {
    headers: entries.flatMap((entry) => (entry === 'bearer' ? [] : [entry.header])),
    bearer: entries.includes('bearer'),
  };
}
