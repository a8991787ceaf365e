import { h } from 'preact';
import type { Store } from '../../admin-api.ts';
import { number } from '../format.ts';
import { isWell, reasonInWords, stateInWords } from '../sentences/gateways.ts';
import { Badge, type Column, Table, Time, type Tone } from './data.ts';

const TONES = {
  up: 'good',
  recovering: 'warn',
  partial: 'warn',
  down: 'bad',
} as const satisfies Record<string, Tone>;

interface StoreTableProps<S extends Store> {
  readonly stores: readonly S[];
  /** Columns behind those that are always there. */
  readonly more?: readonly (Column<S> | false)[];
}

/** Stores, each in a line: how it is, since when and why, and what it has to do. */
export function StoreTable<S extends Store>({ stores, more = [] }: StoreTableProps<S>) {
  return h(Table<S>, {
    caption: 'Stores',
    rows: stores,
    keyOf: ({ upstream, store }) => `${upstream} ${store}`,
    empty: 'No store data available.',
    toneOf: (store) => (isWell(store) ? undefined : store.state === 'down' ? 'bad' : 'warn'),
    columns: [
      { title: 'Store', names: true, cell: ({ store }) => store },
      { title: 'Upstream', cell: ({ upstream }) => upstream },
      {
        title: 'Status',
        cell: (store) => h(Badge, { tone: TONES[store.state] }, stateInWords(store)),
      },
      { title: 'Since', cell: ({ since }) => h(Time, { at: since }) },
      { title: 'Why', cell: (store) => reasonInWords(store) || '–' },
      { title: 'In flight', figure: true, cell: ({ inFlight }) => number(inFlight) },
      { title: 'Requests', figure: true, cell: ({ requests }) => number(requests) },
      { title: 'Failed', figure: true, cell: ({ failures }) => number(failures) },
      ...more,
    ],
  });
}
