import { expect, test } from '@jest/globals';
import { FieldLines } from '@storegate/http1';
import { Refusal } from '../../../src/common/errors/refusals.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { createRequestGuard } from '../../../src/gateway/stages/request-guard.ts';
import type { Event } from '../../../src/observe/events.ts';
import { looseCall } from '../../support/call.ts';
import { exchangeApi, fieldNames, knownClient } from '../../support/exchange.ts';

const { http: settings, contract: paths } = loadConfig({ env: {}, cwd: import.meta.dirname });

function* reachedFrom(
  value: unknown,
  path = 'event',
): Iterable<readonly [path: string, value: unknown]> {
  yield [path, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) yield* reachedFrom(inner, `${path}.${name}`);
}

test('the event of a request holds plain values, and no data of the client', () => {
  const events: Event[] = [];
  const faults = () => [{ in: 'body', pointer: '/name', rule: 'type' }] as const;
  const guard = createRequestGuard({
    config: settings,
    paths,
    observe: (event) => events.push(event),
    api: { ...exchangeApi, report: faults },
    names: fieldNames,
    beginSpan: null,
  });
  const { call } = looseCall('POST', {
    'X-API-Key': 'hidden',
    Cookie: 'hidden',
    'Content-Length': '6',
  });
  const exchange = guard.open(call);
  const client = knownClient();
  const readings = client.limits.windows.map((window) => ({
    window,
    used: window.limit - 1,
    resetAt: 2,
  }));
  const admission = {
    verdict: 'admitted',
    now: 1,
    readings,
    retryAt: 0,
    violated: null,
    strikes: 0,
    freeRefusals: 0,
  } as const;
  exchange.client = client;
  exchange.admission = { ...admission, bannedUntil: 0, banBegins: false };
  exchange.usage = exchange.admission;
  const details = [{ in: 'body', pointer: '/hidden', message: 'hidden', rule: 'type' }] as const;
  exchange.refusal = new Refusal('invalid_request', { details });
  exchange.cancel = () => {};
  call.takeBody(Buffer.from('hidden'));
  call.respond(400, '', new FieldLines(), '');

  expect(events).toMatchObject([
    { type: 'request', status: 400, trace: { declared: 6, received: 6, faultCount: 1 } },
  ]);
  for (const [path, value] of reachedFrom(events[0])) {
    const isPlain =
      typeof value === 'object' && value !== null
        ? [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value))
        : typeof value !== 'function';
    expect([path, isPlain]).toEqual([path, true]);
    expect([path, value]).not.toEqual([path, expect.stringContaining('hidden')]);
  }
});
