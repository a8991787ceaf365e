import { expect, test } from '@jest/globals';
import { BodyStream } from '@storegate/http1';
import type { Operation } from '../../../src/config/contract/contract.ts';
import type { Checked } from '../../../src/gateway/results.ts';
import { createLargeChecks } from '../../../src/gateway/stages/large-checks.ts';
import type { BackendResponse } from '../../../src/gateway/upstream/backend-response.ts';
import { createInspection } from '../../../src/gateway/upstream/inspection.ts';
import { admittedClient, exchangeOf, routeOf, targetOf } from '../../support/exchange.ts';

function inspecting() {
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
  const inspected = (body: BackendResponse['body'], headers: readonly string[] = []) =>
    inspect(exchangeOf(), checked, { status: 200, reason: '', headers, body });
  return { largeChecks, done, inspected };
}

test('an event stream is neither gathered nor checked, because it may never end', async () => {
  const { done, inspected } = inspecting();
  const body = new BodyStream({ pause: () => {}, resume: () => {} });
  for (const type of ['text/event-stream', 'Text/Event-Stream;charset=utf-8'])
    expect(await inspected(body, ['content-type', type])).toMatchObject({ body });
  expect(done).toEqual([]);
});

test('large responses are checked in turn with other large bodies', async () => {
  const { largeChecks, done, inspected } = inspecting();

  const request = (name: string) =>
    largeChecks.run(
      { group: 'free', weight: 1, member: 'another account' },
      { next: () => ({ done: true, value: done.push(name) }) },
      { left: false },
    );
  const responses = [100_000, 10].map((bytes) => inspected(Buffer.alloc(bytes)));
  const all = [request('request 1'), request('request 2'), ...responses];
  await Promise.all(all);
  expect(done).toEqual(['request 1', 'response of 10', 'request 2', 'response of 100000']);
});
