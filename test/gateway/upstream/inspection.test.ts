import { expect, test } from '@jest/globals';
import type { Operation } from '../../../src/config/contract/contract.ts';
import type { Checked } from '../../../src/gateway/results.ts';
import { createLargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import { createInspection } from '../../../src/gateway/upstream/inspection.ts';
import { admittedClient, exchangeOf, routeOf, targetOf } from '../../support/exchange.ts';

test('large responses are checked in turn with other large bodies', async () => {
  const largeChecks = createLargeChecks();
  const done: string[] = [];
  const operation = {
    method: 'GET',
    ready: () => null,
    *responseSteps(_status: number, _type: string | undefined, body: Buffer) {
      yield;
      done.push(`response of ${body.length}`);
      return [];
    },
  } as unknown as Operation;
  const inspect = createInspection({
    mode: 'enforce',
    maxBodyBytes: 1024 ** 2,
    largeChecks,
    report: () => {},
  });
  const checked = {
    client: admittedClient(),
    target: targetOf('/pets'),
    route: routeOf({ operation }),
    body: null,
  } as Checked;
  const inspected = (bytes: number) =>
    inspect(exchangeOf(), checked, {
      status: 200,
      reason: '',
      headers: [],
      body: Buffer.alloc(bytes),
    });

  const request = (name: string) =>
    largeChecks.run(
      { group: 'free', weight: 1, member: 'another account' },
      { next: () => ({ done: true, value: done.push(name) }) },
      { left: false },
    );
  const all = [request('request 1'), request('request 2'), inspected(100_000), inspected(10)];
  await Promise.all(all);
  expect(done).toEqual(['request 1', 'response of 10', 'request 2', 'response of 100000']);
});
