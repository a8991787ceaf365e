import { expect, test } from '@jest/globals';
import type { Task } from '../../src/admin/call.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { trafficOperations } from '../../src/admin/operations/traffic.ts';
import { ANNOUNCE_INTERVAL } from '../../src/observe/peers/peers.ts';

test('counts are complete since the loss of a gateway, whatever the others have from before', async () => {
  const at = Date.UTC(2026, 0, 1);
  const answer = { since: at - 1_000, missing: 0, summary: { total: 7, floor: 0, items: [] } };
  const answers = [{ gateway: 'one', answer }];
  const peers = () => ({
    ask: async () => ({
      answers,
      unresponsive: [],
      lost: [{ gateway: 'two', at }],
      isolated: null,
    }),
  });
  const { getTop } = trafficOperations({ peers } as unknown as AdminContext);
  const { body } = await getTop({ query: {} } as Task<'getTop'>);
  expect(body).toMatchObject({ total: 7, since: new Date(at + ANNOUNCE_INTERVAL).toISOString() });
});
