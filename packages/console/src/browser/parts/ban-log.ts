import type { BanEntry } from '@storegate/admin-api';
import {
  actionInWords,
  authorInWords,
  endInWords,
} from '@storegate/admin-api/words';
import { h } from 'preact';
import { clockTime } from '../format.ts';
import {
  Badge,
  clientColumn,
  reasonColumn,
  rowHeader,
  Table,
  Time,
  timeColumn,
} from './data.ts';

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
      { title: 'What', cell: ({ action }) => actionInWords(action) },
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
      reasonColumn('Why', 'reason'),
      {
        title: 'By',
        cell: ({ actor }) => h('span', { class: 'by' }, authorInWords(actor)),
      },
    ],
  });
}

function endOf({ action, ended }: BanEntry) {
  if (action === 'bans.lift' || action.endsWith('.failed')) return '–';
  if (ended === null) return h(Badge, { tone: 'bad' }, 'in force');
  return endInWords(ended, clockTime);
}
