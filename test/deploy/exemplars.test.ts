import { afterEach, describe, expect, test } from '@jest/globals';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { type Prometheus, startPrometheus } from './prometheus.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let gateway: TestGateway | null = null;
let prometheus: Prometheus | null = null;

afterEach(async () => {
  await prometheus?.stop();
  await gateway?.stop();
});

describe('a real Prometheus', () => {
  test('accepts the metrics of a gateway with tracing as OpenMetrics, and links a bucket to a trace', async () => {
    gateway = await TestGateway.start({
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_TIMEOUT: '100' },
    });
    const { secret } = await gateway.key();
    await gateway.client
      .get('/pets?limit=1')
      .set('X-API-Key', secret)
      .set('traceparent', `00-${TRACE}-00f067aa0ba902b7-01`)
      .expect(200);
    prometheus = await startPrometheus([gateway.adminUrl]);
    const { ask } = prometheus;
    const metric = 'storegate_request_duration_seconds_bucket';
    let found: unknown = null;
    await until('it has the trace', async () => {
      const now = Date.now() / 1_000;
      found = await ask(`query_exemplars?query=${metric}&start=${now - 60}&end=${now + 60}`);
      return JSON.stringify(found).includes(TRACE);
    });
    expect(found).toMatchObject([
      {
        seriesLabels: { operation: 'listPets', job: 'storegate' },
        exemplars: [{ labels: { trace_id: TRACE } }],
      },
    ]);
    expect(await ask('query?query=up')).toMatchObject({
      result: [{ value: [expect.anything(), '1'] }],
    });
    const targets = (await ask('targets')) as { activeTargets: { lastError: string }[] };
    expect(targets.activeTargets.map(({ lastError }) => lastError)).toEqual(['']);
  });
});
