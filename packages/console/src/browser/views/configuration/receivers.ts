import { h } from 'preact';
import type { WebhookEndpoint } from '../../../admin-api.ts';
import { number } from '../../format.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';

/** A tone and the words for it. */
const STATUSES = {
  new: ['plain', 'nothing sent yet'],
  well: ['good', 'well'],
  failing: ['bad', 'failing'],
  gone: ['bad', 'wants no more'],
} as const;

/** Who is told of events, and whether they arrive. */
export function ReceiversOfEvents({ receivers }: { receivers: readonly WebhookEndpoint[] }) {
  return h(Table<WebhookEndpoint>, {
    caption: 'Webhook endpoints',
    rows: receivers,
    keyOf: ({ id }) => id,
    empty: 'No webhook endpoints configured.',
    toneOf: ({ standing }) => (standing === 'failing' || standing === 'gone' ? 'bad' : undefined),
    columns: [
      { title: 'Endpoint', names: true, cell: ({ host, id }) => [host, ' ', h('code', { key: 'id' }, id)] },
      { title: 'Status', cell: statusOf },
      { title: 'Pending', figure: true, cell: ({ waiting }) => number(waiting) },
      { title: 'Dropped', figure: true, cell: ({ lost }) => number(lost) },
      { title: 'Last delivered', cell: ({ delivered }) => h(Time, { at: delivered }) },
      { title: 'Events', cell: ({ events }) => events.join(', ') },
    ],
  });
}

function statusOf({ standing, failingSince, error }: WebhookEndpoint) {
  const [tone, words] = STATUSES[standing];
  const badge = h(Badge, { key: 'standing', tone }, words);
  return failingSince === null ? badge : [badge, ' since ', h(Time, { key: 'since', at: failingSince }), `: ${error}`];
}
