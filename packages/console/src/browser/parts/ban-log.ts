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
  readonly author: string | null;
  readonly reason: string | null;
}

/**
 * What led to bans: the limit of automatic ones, how often it was ignored and the last operation,
 * or an operator with a reason.
 */
export function causeColumns<Row>(
  rows: readonly Row[],
  causeOf: (row: Row) => Cause,
): readonly (Column<Row> | false)[] {
  const hasLimits = rows.some((row) => causeOf(row).limit);
  const column = (
    title: string,
    show: (cause: Cause) => ComponentChildren,
    look?: 'figure',
  ): Column<Row> => [title, (row) => show(causeOf(row)) || '–', look];
  return [
    hasLimits && column('Limit', ({ limit }) => limit && limitText(limit)),
    hasLimits &&
      column(
        'Ignored',
        ({ strikes }) => orDash(strikes ?? null, number),
        'figure',
      ),
    hasLimits &&
      column(
        'Operation',
        ({ operation }) => operation && operationText(operation),
      ),
    column('By', ({ author, limit, reason }) => [
      h('span', { class: 'by' }, author ?? '–'),
      !limit && h('div', { class: 'soft' }, reason),
    ]),
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
      ['What', ({ action }) => actionText(action)],
      ['Until', ({ after }) => h(Time, { at: after?.until ?? null })],
      ['Level', ({ after }) => after?.level || '–', 'figure'],
      ['Ended', endOf],
      ...causeColumns(entries, ({ after, reason, actor }) => ({
        ...after,
        reason,
        author: authorText(actor),
      })),
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
