import { describe, expect, test } from '@jest/globals';
import {
  expositionOf,
  type Figures,
  OPEN_METRICS,
  prefersOpenMetrics,
  TEXT,
  totalOf,
} from '../../src/observe/exposition.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { textOf } from '../support/exposition.ts';
import { requestEvent } from '../support/request-event.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const OTHER = '5bf92f3577b34da6a3ce929d0e0e4736';
const gauges = { workers: () => 2 };

function metricsOf(...requests: { traceId: string; sampled?: boolean; duration: number }[]) {
  const metrics = createMetrics(gauges, undefined, { exemplars: true });
  for (const { traceId, sampled = true, duration } of requests) {
    const trace = { span: { traceId, sampled } } as never;
    metrics.observe(requestEvent({ duration, upstream: null, trace }));
  }
  return metrics;
}

const openText = async (figures: Figures | Promise<Figures>) =>
  expositionOf(await figures, OPEN_METRICS);

const examplesIn = (text: string) =>
  [
    ...text.matchAll(
      /^storegate_request_duration_seconds_bucket\{(.*)\} \d+ # \{trace_id="(\w+)"\} (\S+) \d+(?:\.\d+)?$/gm,
    ),
  ].map(([, labels, trace, seconds]) => [/le="([^"]+)"/.exec(labels!)![1], trace, Number(seconds)]);

describe('OpenMetrics', () => {
  test.each([
    ['*/*', false],
    ['text/plain', false],
    ['Application/OpenMetrics-Text; version=1.0.0', true],
    ['application/openmetrics-text;q=0', false],
    ['text/plain, application/openmetrics-text;q=0.5', false],
    [
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      true,
    ],
    [
      'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,*/*;q=0.2',
      true,
    ],
  ])('is preferred by Accept: %s: %s', (accept, preferred) => {
    expect(prefersOpenMetrics(accept)).toBe(preferred);
  });

  test('has for each bucket the newest request with a kept trace', async () => {
    const metrics = metricsOf(
      { traceId: OTHER, duration: 3 },
      { traceId: TRACE, duration: 4 },
      { traceId: OTHER, sampled: false, duration: 4.5 },
      { traceId: OTHER, duration: 60_000 },
    );
    expect(examplesIn(await openText(metrics.figures()))).toEqual([
      ['0.005', TRACE, 0.004],
      ['+Inf', OTHER, 60],
    ]);
  });

  test('follows the standard: families by their names, numbers with a point, an end', async () => {
    const metrics = metricsOf({ traceId: TRACE, duration: 4 });
    const text = await openText(metrics.figures());
    expect(text).toMatch(
      /^# HELP storegate_requests Requests to .*\n# TYPE storegate_requests counter$/m,
    );
    expect(text).toMatch(
      /^storegate_requests_total\{operation="listPets",method="GET",status="200"\} 1$/m,
    );
    expect(text).toMatch(
      /^storegate_request_duration_seconds_bucket\{operation="listPets",le="1\.0"\} 1$/m,
    );
    expect(text).toContain('# TYPE storegate_workers gauge\n');
    expect(text).toContain('# TYPE nodejs_gc_duration_seconds histogram\n');
    expect(text.endsWith('\n# EOF\n')).toBe(true);
    const families = [...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name!);
    expect(new Set(families).size).toBe(families.length);
    expect(text).not.toContain('\n\n');
  });

  test('of several processes has the newest exemplar of all, and the same sums as the other exposition', async () => {
    const one = await metricsOf({ traceId: TRACE, duration: 4 }).figures();
    await new Promise((resolve) => setTimeout(resolve, 2));
    const two = await metricsOf(
      { traceId: OTHER, duration: 3 },
      { traceId: OTHER, duration: 60_000 },
    ).figures();
    const own = await createMetrics(gauges).figures();
    const parts = structuredClone([two, one]);
    const total = await totalOf(own, parts);
    const text = await openText(total);
    expect(examplesIn(text)).toEqual([
      ['0.005', OTHER, 0.003],
      ['+Inf', OTHER, 60],
    ]);
    expect(text).toContain('storegate_request_duration_seconds_count{operation="listPets"} 3\n');
    expect(await expositionOf(total, TEXT)).toContain(
      'storegate_request_duration_seconds_count{operation="listPets"} 3\n',
    );
  });

  test('is missing without tracing, and the other exposition has no exemplars', async () => {
    expect(createMetrics(gauges).exemplars).toBe(false);
    expect(await textOf(metricsOf({ traceId: TRACE, duration: 4 }))).not.toContain('trace_id');
  });
});
