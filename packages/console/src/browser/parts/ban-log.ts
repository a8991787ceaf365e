import type { BanEntry } from '@storegate/admin-api';
import {
  actionText,
  authorText,
  endText,
  limitText,
  number,
  operationText,
} from '@storegate/admin-api/text';
import { type ComponentChildren, h } from 'preact';
import { clockTime, orDash } from '../format.ts';
import {
  Badge,
  type Column,
  clientColumn,
  rowHeader,
  Table,
  Time,
  timeColumn,
} from './data.ts';

interface Cause {
  readonly limit?: string | null | undefined;
  readonly strikes?: number | null | undefined;
  readonly operation?: string | null | undefined;
  readonly reason: string | null;
}

/**
 * What led to bans: the limit of automatic ones, how often it was ignored and the last operation,
 * or the reason of an operator.
 */
export function causeColumns<Row>(
  rows: readonly Row[],
  causeOf: (row: Row) => Cause,
): readonly (Column<Row> | false)[] {
  const isAutomatic = (row: Row) => Boolean(causeOf(row).limit);
  const hasLimits = rows.some(isAutomatic);
  const column = (
    title: string,
    show: (cause: Cause) => ComponentChildren,
    figure = false,
  ): Column<Row> => ({
    title,
    figure,
    cell: (row) => show(causeOf(row)) || '–',
  });
  return [
    hasLimits &&
      column(
        'Limit',
        ({ limit }) => limit && h('span', { class: 'whole' }, limitText(limit)),
      ),
    hasLimits &&
      column('Ignored', ({ strikes }) => orDash(strikes ?? null, number), true),
    hasLimits &&
      column(
        'Last operation',
        ({ operation }) => operation && operationText(operation),
      ),
    !rows.every(isAutomatic) &&
      column('Reason', ({ limit, reason }) =>
        limit ? null : h('span', { class: 'reason' }, reason ?? '–'),
      ),
  ];
}

interface BanLogProps {
  readonly entries: readonly BanEntry[];
  readonly empty: string;
  /** Whose bans they are, where that need not be said. */
  readonly of?: string;
}

/** Entries of the log of bans. */
export function BanLog({ entries, empty, of }: BanLogProps) {
  return h(Table<BanEntry>, {
    caption: 'Ban history',
    rows: entries,
    keyOf: ({ number }) => number,
    empty,
    columns: [
      timeColumn('When', 'at'),
      entries.some(({ target }) => target !== of) &&
        rowHeader(clientColumn('Key or account', 'target')),
      { title: 'What', cell: ({ action }) => actionText(action) },
      {
        title: 'Until',
        cell: ({ after }) => h(Time, { at: after?.until ?? null }),
      },
      {
        title: 'Level',
        figure: true,
        cell: ({ after }) => after?.level || '–',
      },
      { title: 'Ended', cell: endOf },
      ...causeColumns(entries, ({ after, reason }) => ({ ...after, reason })),
      {
        title: 'By',
        cell: ({ actor }) => h('span', { class: 'by' }, authorText(actor)),
      },
    ],
  });
}

function endOf({ action, ended }: BanEntry) {
  if (action === 'bans.lift' || action.endsWith('.failed')) return '–';
  if (ended === null) return h(Badge, { tone: 'bad' }, 'in force');
  // Its end is in the column before.
  if (ended.how === 'expired') return ended.how;
  return endText(ended, clockTime);
}
