import { beforeAll, describe, expect, test } from '@jest/globals';
import { CATALOGUE } from '../../src/common/errors/catalogue.ts';
import { type Exposition, expositionOf } from './exposition.ts';
import { ofOneProcess, ofTwoWorkers } from './gateways.ts';
import { namesIn, type Selector } from './promql.ts';
import { promtoolReading } from './promtool.ts';
import { alerts, dashboardExpressions, recordings } from './shipped.ts';

type Labels = ReadonlyMap<string, ReadonlySet<string>>;

const labels = (values: Readonly<Record<string, readonly string[]>>): Labels =>
  new Map(Object.entries(values).map(([label, all]) => [label, new Set(all)]));

const SCRAPED = labels({ job: ['storegate'], instance: ['gateway-1:9901'] });
const PROMETHEUS = new Map([
  ['up', SCRAPED],
  ['ALERTS', labels({ alertname: alerts.map(({ alert }) => alert), alertstate: ['firing'] })],
]);
/** Values that a gateway can have and that the test did not cause. */
const POSSIBLE = labels({
  code: [...Object.keys(CATALOGUE), 'client_closed_request', 'slow_reader'],
  status: ['101', '304', ...Object.values(CATALOGUE).map(({ status }) => `${status}`)],
  api: ['files'],
  operation: ['undescribed'],
  result: ['exported', 'dropped', 'rejected', 'failed'],
});

const OF_WORKERS = ['storegate_worker_exits_total', 'storegate_workers'];

let texts: readonly string[];
let oneProcess: Exposition;
let twoWorkers: Exposition;
beforeAll(async () => {
  const [one, two] = [await ofOneProcess(), await ofTwoWorkers()];
  texts = [...one, ...two];
  oneProcess = expositionOf(one);
  twoWorkers = expositionOf(two);
});

function labelsOf(metric: string, exposition: Exposition): Labels | null {
  const recording = recordings.find(({ record }) => record === metric);
  if (recording)
    return union(namesIn(recording.expr).selectors.map((one) => labelsOf(one.metric, exposition)));
  const existing = exposition.get(metric);
  return PROMETHEUS.get(metric) ?? (existing ? union([existing, SCRAPED]) : null);
}

function union(all: readonly (Labels | null)[]): Labels {
  const together = new Map<string, Set<string>>();
  for (const [label, values] of all.flatMap((one) => [...(one ?? [])])) {
    together.set(label, (together.get(label) ?? new Set()).union(values));
  }
  return together;
}

function faultsIn(expr: string, exposition: Exposition): string[] {
  const { selectors, groupings } = namesIn(expr);
  const existing = union(selectors.map(({ metric }) => labelsOf(metric, exposition)));
  const strange = groupings
    .filter((label) => !existing.has(label) && !POSSIBLE.has(label))
    .map((label) => `nothing has the label ${label}`);
  return [...selectors.flatMap((one) => faultsOf(one, exposition)), ...strange];
}

function faultsOf({ metric, matchers }: Selector, exposition: Exposition): string[] {
  const existing = labelsOf(metric, exposition);
  if (!existing) return [`the metric ${metric} does not exist`];
  return matchers.flatMap(({ label, value }) => {
    if (!existing.has(label)) return [`${metric} has no label ${label}`];
    const values = [...existing.get(label)!, ...(POSSIBLE.get(label) ?? [])];
    // Checks each alternative by itself: `a|b` with a mistyped `b` would silently mean `a`.
    return value
      .split('|')
      .filter((one) => !values.some((possible) => new RegExp(`^(?:${one})$`).test(possible)))
      .map((one) => `${label} of ${metric} is never ${one}`);
  });
}

const own = (exposition: Exposition) =>
  [...exposition.keys()].filter(
    (name) => name.startsWith('storegate_') && !/_(bucket|sum|count)$/.test(name),
  );

describe('the exposition of a gateway', () => {
  test('has everything that it counts', () => {
    expect([...oneProcess.keys()]).toEqual(
      expect.arrayContaining([
        'storegate_bans_total',
        'storegate_state_local_mode_requests_total',
        'storegate_contract_faults_total',
      ]),
    );
    expect([...oneProcess.get('storegate_reloads_total')!.get('result')!].sort()).toEqual([
      'failure',
      'success',
    ]);
  });

  test('is the same with several workers, plus the metrics of workers', () => {
    const differ = new Set(own(twoWorkers)).symmetricDifference(new Set(own(oneProcess)));
    expect([...differ].sort()).toEqual(OF_WORKERS);
    const labelNames = (exposition: Exposition) =>
      Object.fromEntries(
        own(exposition).map((name) => [name, [...exposition.get(name)!.keys()].sort()]),
      );
    expect(labelNames(twoWorkers)).toMatchObject(labelNames(oneProcess));
  });

  test('is all on the dashboard', () => {
    const shown = dashboardExpressions
      .flatMap(([, expr]) => namesIn(expr).selectors.map(({ metric }) => metric))
      .join();
    expect(own(twoWorkers).length).toBeGreaterThan(14);
    expect(own(twoWorkers).filter((name) => !shown.includes(name))).toEqual([]);
  });
});

describe('promtool', () => {
  test('finds no problem in the exposition of a gateway', () => {
    expect(texts).toHaveLength(4);
    for (const text of texts) promtoolReading(text, 'check', 'metrics');
  });
});

test.each([
  ...alerts.map(({ alert, expr }) => ['alert', alert, expr] as const),
  ...recordings.map(({ record, expr }) => ['rule', record, expr] as const),
  ...dashboardExpressions.map(([title, expr]) => ['panel', title, expr] as const),
])('the %s %s uses only exposed series', (_kind, _name, expr) => {
  expect(faultsIn(expr, twoWorkers)).toEqual([]);
  const existing = new Map<string, Labels>([
    ...oneProcess,
    ...OF_WORKERS.map((name) => [name, labels({})] as const),
  ]);
  expect(faultsIn(expr, existing)).toEqual([]);
});

test.each([
  ['storegate_request_total', 'the metric storegate_request_total does not exist'],
  ['storegate_requests_total{code="x"}', 'storegate_requests_total has no label code'],
  [
    'storegate_refusals_total{code=~"upstream_busy|upstream_bussy"}',
    'code of storegate_refusals_total is never upstream_bussy',
  ],
  ['sum by (plan) (storegate_requests_total)', 'nothing has the label plan'],
])('%s would be detected', (expr, fault) => {
  expect(faultsIn(expr, twoWorkers)).toEqual([fault]);
});
