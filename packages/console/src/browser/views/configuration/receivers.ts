import { h } from 'preact';
import type { WebhookEndpoint } from '../../../admin-api.ts';
import { number } from '../../format.ts';
import { Badge } from '../../parts/notice.ts';
import { Table } from '../../parts/table.ts';
import { Time } from '../../parts/time.ts';

/** A tone and the words for it. */
const STATUSES = {
  new: ['plain', 'nothing sent yet'],
  ok: ['good', 'OK'],
  failing: ['bad', 'failing'],
  disabled: ['bad', 'disabled'],
} as const;

/** The receivers of events, and whether deliveries succeed. */
export function ReceiversOfEvents({ receivers }: { receivers: readonly WebhookEndpoint[] }) {
  return h(Table<WebhookEndpoint>, {
    caption: 'Webhook endpoints',
    rows: receivers,
    keyOf: ({ id }) => id,
    empty: 'No webhook endpoints configured.',
    toneOf: ({ status }) => (status === 'failing' || status === 'disabled' ? 'bad' : undefined),
    columns: [
      { title: 'Endpoint', names: true, cell: ({ host, id }) => [host, ' ', h('code', null, id)] },
      { title: 'Status', cell: statusOf },
      { title: 'Pending', figure: true, cell: ({ pending }) => number(pending) },
      { title: 'Dropped', figure: true, cell: ({ dropped }) => number(dropped) },
      { title: 'Last delivered', cell: ({ delivered }) => h(Time, { at: delivered }) },
      { title: 'Events', cell: ({ events }) => events.join(', ') },
    ],
  });
}

function statusOf({ status, failingSince, error }: WebhookEndpoint) {
  const [tone, words] = STATUSES[status];
  const badge = h(Badge, { tone }, words);
  return failingSince === null ? badge : [badge, ' since ', h(Time, { at: failingSince }), `: ${error}`];
}
