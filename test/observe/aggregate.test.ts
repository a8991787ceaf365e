import { expect, test } from '@jest/globals';
import { expositionOf, lastingFigures, TEXT, totalOf } from '../../src/observe/exposition.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { textOf } from '../support/exposition.ts';
import { CARRYING } from '../support/gauges.ts';
import { requestEvent } from '../support/request-event.ts';

const REQUEST = requestEvent();

function worker(inFlight: number) {
  return createMetrics({ ...CARRYING, inFlight: () => inFlight });
}

const totalText = async (...[own, others]: Parameters<typeof totalOf>) =>
  expositionOf(await totalOf(own, others), TEXT);

const primary = createMetrics({ workers: () => 2 });

test('adds up counters, histograms and gauges; every mode of the state appears once', async () => {
  const [one, other] = [worker(3), worker(4)];
  for (let i = 0; i < 5; i++) one.observe(REQUEST);
  other.observe({ ...REQUEST, operation: 'getPet' });
  other.observe(REQUEST);
  other.observe({ type: 'state.outage', policy: 'local', error: null });
  const lines = (
    await totalText(await primary.figures(), [await one.figures(), await other.figures()])
  ).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'storegate_requests_total{operation="listPets",method="GET",status="200"} 6',
      'storegate_requests_total{operation="getPet",method="GET",status="200"} 1',
      'storegate_request_duration_seconds_bucket{operation="listPets",le="0.0025"} 0',
      'storegate_request_duration_seconds_bucket{operation="listPets",le="0.005"} 6',
      'storegate_request_duration_seconds_count{operation="listPets"} 6',
      'storegate_requests_in_flight 7',
      'storegate_state_mode{mode="normal"} 1',
      'storegate_state_mode{mode="local"} 1',
      'storegate_workers 2',
    ]),
  );
});

test('keeps only the counters of processes that ended', async () => {
  const [one, other, living] = [worker(3), worker(4), worker(1)];
  for (const metrics of [one, other, living]) metrics.observe(REQUEST);
  let departed = await lastingFigures([await one.figures()]);
  departed = await lastingFigures([departed, await other.figures()]);
  const lines = (
    await totalText(await primary.figures(), [departed, await living.figures()])
  ).split('\n');
  expect(lines).toContain(
    'storegate_requests_total{operation="listPets",method="GET",status="200"} 3',
  );
  expect(lines).toContain('storegate_request_duration_seconds_count{operation="listPets"} 3');
  expect(lines).toContain('storegate_requests_in_flight 1');
});

test('reports the start of the gateway, not of its workers', async () => {
  const own = await primary.figures();
  const startOf = (text: string) => /^process_start_time_seconds (\S+)$/m.exec(text)![1];
  expect(startOf(await totalText(own, [await worker(0).figures()]))).toBe(
    startOf(await textOf(primary)),
  );
});

test('can be sent to another process', async () => {
  const metrics = worker(1);
  metrics.observe(REQUEST);
  const figures = await metrics.figures();
  expect(structuredClone(figures)).toEqual(figures);
});
