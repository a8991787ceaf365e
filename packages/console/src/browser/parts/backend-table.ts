import type { Backend } from '@storegate/admin-api';
import { isWell, reasonText, stateText } from '@storegate/admin-api/text';
import { h } from 'preact';
import {
  Badge,
  type Column,
  countColumn,
  rowHeader,
  Table,
  type Tone,
  textColumn,
  timeColumn,
} from './data.ts';

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
      rowHeader(textColumn('Backend', 'backend')),
      textColumn('Upstream', 'upstream'),
      [
        'Status',
        (backend) =>
          h(Badge, { tone: TONES[backend.state] }, stateText(backend)),
      ],
      timeColumn('Since', 'since'),
      ['Why', (backend) => reasonText(backend) || '–'],
      countColumn('In flight', 'inFlight'),
      countColumn('Requests', 'requests'),
      countColumn('Failed', 'failures'),
      ...more,
    ],
  });
}
