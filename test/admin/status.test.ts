import { expect, test } from '@jest/globals';
import { createChanges } from '../../src/admin/change.ts';
import type { AdminContext } from '../../src/admin/context.ts';
import { statusOperations } from '../../src/admin/operations/status.ts';
import { STATUS } from '../support/status.ts';

const otherThan = (changes: object): unknown => ({ ...STATUS, ...changes });
const ODD: readonly unknown[] = [
  null,
  [],
  {},
  otherThan({ configuration: undefined }),
  otherThan({ configuration: null }),
  otherThan({ processes: {} }),
  otherThan({ processes: [null] }),
  otherThan({ processes: [{ ...STATUS.processes[0], backend: null }] }),
  otherThan({
    processes: [{ ...STATUS.processes[0], backends: [{ upstream: 'default', backend: 's1:80' }] }],
  }),
  otherThan({ processes: [{ ...STATUS.processes[0], conditions: [{ type: 1 }] }] }),
  otherThan({ processes: [{ ...STATUS.processes[0], traffic: { requests: -1 } }] }),
  otherThan({ conditions: null }),
  otherThan({ startedAt: 9e15 }),
  otherThan({ startedAt: '2026' }),
  otherThan({ readiness: '\u001b[2J' }),
  otherThan({
    configuration: { ...STATUS.configuration, lastReload: { at: 1e300, reason: '', problems: [] } },
  }),
  otherThan({
    configuration: { ...STATUS.configuration, lastReload: { at: 1, reason: '', problems: [{}] } },
  }),
  otherThan({ configuration: { ...STATUS.configuration, copy: { at: 1 } } }),
];

async function reportOf(response: unknown) {
  const responses = [
    { gateway: 'one', response: STATUS },
    { gateway: 'two', response },
  ];
  const peers = () => ({
    ask: async () => ({ responses, unresponsive: ['three'], lost: [], isolated: null }),
  });
  const context = { peers, clock: () => 2 } as unknown as AdminContext;
  const body = await statusOperations(context, createChanges(context.auditLog).change).getStatus();
  return { gateways: body.gateways.map(({ gateway }) => gateway), unresponsive: body.unresponsive };
}

test('a gateway with an invalid response is reported as unresponsive, and does not affect the others', async () => {
  for (const odd of ODD)
    expect(await reportOf(odd)).toEqual({ gateways: ['one'], unresponsive: ['three', 'two'] });
});

test('ignores extra fields of a newer version', async () => {
  expect(await reportOf(otherThan({ region: 'eu' }))).toEqual({
    gateways: ['one', 'two'],
    unresponsive: ['three'],
  });
});
