import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { program } from '../runner/programs.ts';
import { TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let gateway: TestGateway | null = null;
let prometheus: ChildProcess | null = null;
const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));

afterEach(async () => {
  if (prometheus !== null) {
    prometheus.kill('SIGKILL');
    await once(prometheus, 'exit');
  }
  await gateway?.stop();
  rmSync(folder, { recursive: true });
});

async function startPrometheus(adminUrl: string): Promise<string> {
  const target = new URL(adminUrl).host;
  const file = join(folder, 'prometheus.yml');
  writeFileSync(
    file,
    JSON.stringify({
      global: { scrape_interval: '1s' },
      scrape_configs: [{ job_name: 'storegate', static_configs: [{ targets: [target] }] }],
    }),
  );
  prometheus = spawn(
    program('prometheus'),
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  prometheus.stderr!.on('data', (chunk) => {
    said += chunk;
  });
  const listening = /msg="Listening on" address=(\S+)/;
  await until('Prometheus listens', () => listening.test(said));
  return `http://${listening.exec(said)![1]}`;
}

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
    const url = await startPrometheus(gateway.adminUrl);
    const ask = async (path: string) => {
      const response = await fetch(`${url}/api/v1/${path}`);
      return response.ok ? ((await response.json()) as { data: unknown }) : { data: null };
    };
    const metric = 'storegate_request_duration_seconds_bucket';
    let found: unknown = null;
    await until('it has the trace', async () => {
      const now = Date.now() / 1_000;
      found = (await ask(`query_exemplars?query=${metric}&start=${now - 60}&end=${now + 60}`)).data;
      return JSON.stringify(found).includes(TRACE);
    });
    expect(found).toMatchObject([
      {
        seriesLabels: { operation: 'listPets', job: 'storegate' },
        exemplars: [{ labels: { trace_id: TRACE } }],
      },
    ]);
    const { data } = await ask('query?query=up');
    expect(data).toMatchObject({ result: [{ value: [expect.anything(), '1'] }] });
    const targets = (await ask('targets')).data as { activeTargets: { lastError: string }[] };
    expect(targets.activeTargets.map(({ lastError }) => lastError)).toEqual(['']);
  });
});
