import type { Backend } from '@storegate/admin-api';
import {
  isWell,
  number,
  reasonInWords,
  stateInWords,
} from '@storegate/admin-api/words';
import { h } from 'preact';
import { Badge, type Column, Table, Time, type Tone } from './data.ts';

const TONES = {
  up: 'good',
  recovering: 'warn',
  partial: 'warn',
  down: 'bad',
} as const satisfies Record<string, Tone>;

interface BackendTableProps<S extends Backend> {
  readonly backends: readonly S[];
  /** Columns behind those that are always there. */
  readonly more?: readonly (Column<S> | false)[];
}

/** Backends, each in a line: how it is, since when and why, and what it has to do. */
export function BackendTable<S extends Backend>({
  backends,
  more = [],
}: BackendTableProps<S>) {
  return h(Table<S>, {
    caption: 'Backends',
    rows: backends,
    keyOf: ({ upstream, backend }) => `${upstream} ${backend}`,
    empty: 'No backend data available.',
    toneOf: (backend) =>
      isWell(backend) ? undefined : backend.state === 'down' ? 'bad' : 'warn',
    columns: [
      { title: 'Backend', names: true, cell: ({ backend }) => backend },
      { title: 'Upstream', cell: ({ upstream }) => upstream },
      {
        title: 'Status',
        cell: (backend) =>
          h(Badge, { tone: TONES[backend.state] }, stateInWords(backend)),
      },
      { title: 'Since', cell: ({ since }) => h(Time, { at: since }) },
      { title: 'Why', cell: (backend) => reasonInWords(backend) || '–' },
      {
        title: 'In flight',
        figure: true,
        cell: ({ inFlight }) => number(inFlight),
      },
      {
        title: 'Requests',
        figure: true,
        cell: ({ requests }) => number(requests),
      },
      {
        title: 'Failed',
        figure: true,
        cell: ({ failures }) => number(failures),
      },
      ...more,
    ],
  });
}
