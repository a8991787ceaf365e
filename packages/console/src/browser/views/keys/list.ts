import type { Key, KeyStatus } from '@storegate/admin-api';
import { limitsText } from '@storegate/admin-api/text';
import { h } from 'preact';
import {
  ageColumn,
  Badge,
  clientColumn,
  rowHeader,
  Table,
  type Tone,
  timeColumn,
} from '../../parts/data.ts';

export const STATUS_TONES: Readonly<Record<KeyStatus, Tone>> = {
  active: 'good',
  banned: 'bad',
  disabled: 'warn',
  expired: 'warn',
  revoked: 'bad',
};

export function StatusOf({ status }: Pick<Key, 'status'>) {
  return h(Badge, { tone: STATUS_TONES[status] }, status);
}

/**
 * Keys in a table, each leading to all that is known of it. `of`: the account that all are of,
 * where that need not be said.
 */
export function KeyList({
  keys,
  empty,
  of,
}: {
  keys: readonly Key[];
  empty: string;
  of?: string;
}) {
  return h(Table<Key>, {
    caption: 'Keys',
    rows: keys,
    keyOf: ({ id }) => id,
    empty,
    columns: [
      rowHeader(clientColumn('Key', 'id')),
      of === undefined && clientColumn('Account', 'account'),
      ['Label', ({ label }) => h('span', { class: 'label' }, label ?? '–')],
      [
        'Plan',
        ({ plan, limits }) =>
          limits === null
            ? plan
            : [plan, h('small', null, `own: ${limitsText(limits)}`)],
      ],
      ['Status', ({ status }) => h(StatusOf, { status })],
      timeColumn('Created', 'created'),
      keys.some(({ expires }) => expires !== null) &&
        timeColumn('Expires', 'expires'),
      ageColumn('Last used', 'lastUsed'),
    ],
  });
}
