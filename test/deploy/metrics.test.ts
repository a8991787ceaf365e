import { beforeAll, describe, expect, test } from '@jest/globals';
import { CATALOGUE } from '../../src/gateway/reply/refusals.ts';
import { type Exposition, exposed } from './exposition.ts';
import { namesIn, type Selector } from './promql.ts';
import { alerts, dashboardExpressions, recordings } from './shipped.ts';

type Labels = ReadonlyMap<string, ReadonlySet<string>>;

const labels = (values: Readonly<Record<string, readonly string[]>>): Labels =>
  new Map(Object.entries(values).map(([label, all]) => [label, new Set(all)]));

/** Labels that Prometheus itself puts on everything that it scrapes. */
const SCRAPED = labels({ job: ['storegate'], instance: ['gateway-1:9901'] });
/** Series that Prometheus makes itself. */
const PROMETHEUS = new Map([
  ['up', SCRAPED],
  ['ALERTS', labels({ alertname: alerts.map(({ alert }) => alert), alertstate: ['firing'] })],
]);
/** Values that a gateway can have and that the test did not bring about. */
const POSSIBLE = labels({
  code: [...Object.keys(CATALOGUE), 'caller_left'],
  status: ['101', '304', ...Object.values(CATALOGUE).map(({ status }) => `${status}`)],
  operation: ['mount /files'],
});

let exposition: Exposition;
beforeAll(async () => {
  exposition = await exposed();
});

/** The labels of a metric and what they can be; those of a recording rule are at most those of what it is made from. */
function labelsOf(metric: string): Labels | null {
  const recording = recordings.find(({ record }) => record === metric);
  if (recording) return union(namesIn(recording.expr).selectors.map((one) => labelsOf(one.metric)));
  const known = exposition.get(metric);
  return PROMETHEUS.get(metric) ?? (known ? union([known, SCRAPED]) : null);
}

function union(all: readonly (Labels | null)[]): Labels {
  const together = new Map<string, Set<string>>();
  for (const [label, values] of all.flatMap((one) => [...(one ?? [])])) {
    together.set(label, (together.get(label) ?? new Set()).union(values));
  }
  return together;
}

/** What is wrong with an expression, where it asks for something that no gateway ever says. */
function faultsIn(expr: string): string[] {
  const { selectors, groupings } = namesIn(expr);
  const known = union(selectors.map(({ metric }) => labelsOf(metric)));
  const strange = groupings.filter((label) => !known.has(label)).map((label) => `nothing has the label ${label}`);
  return [...selectors.flatMap(faultsOf), ...strange];
}

function faultsOf({ metric, matchers }: Selector): string[] {
  const known = labelsOf(metric);
  if (!known) return [`there is no metric ${metric}`];
  return matchers.flatMap(({ label, value }) => {
    if (!known.has(label)) return [`${metric} has no label ${label}`];
    const values = [...known.get(label)!, ...(POSSIBLE.get(label) ?? [])];
    // Each alternative by itself: `a|b` with a mistyped `b` would silently be `a`.
    return value
      .split('|')
      .filter((one) => !values.some((possible) => new RegExp(`^(?:${one})$`).test(possible)))
      .map((one) => `${label} of ${metric} is never ${one}`);
  });
}

describe('what a gateway exposes', () => {
  test('is everything that it counts', () => {
    expect([...exposition.keys()]).toEqual(
      expect.arrayContaining([
        'storegate_bans_total',
        'storegate_state_alone_total',
        'storegate_contract_faults_total',
      ]),
    );
    expect([...exposition.get('storegate_reloads_total')!.get('result')!].sort()).toEqual(['done', 'refused']);
  });

  test('is all shown on the dashboard', () => {
    const shown = dashboardExpressions
      .flatMap(([, expr]) => namesIn(expr).selectors.map(({ metric }) => metric))
      .join();
    const own = [...exposition.keys()].filter(
      (name) => name.startsWith('storegate_') && !/_(bucket|sum|count)$/.test(name),
    );
    expect(own.length).toBeGreaterThan(12);
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });
});

test.each([
  ...alerts.map(({ alert, expr }) => ['alert', alert, expr] as const),
  ...recordings.map(({ record, expr }) => ['rule', record, expr] as const),
  ...dashboardExpressions.map(([title, expr]) => ['panel', title, expr] as const),
])('the %s %s asks for nothing but what a gateway exposes', (_kind, _name, expr) => {
  expect(faultsIn(expr)).toEqual([]);
});

test.each([
  ['storegate_request_total', 'there is no metric storegate_request_total'],
  ['storegate_requests_total{code="x"}', 'storegate_requests_total has no label code'],
  [
    'storegate_refusals_total{code=~"upstream_busy|upstream_bussy"}',
    'code of storegate_refusals_total is never upstream_bussy',
  ],
  ['sum by (plan) (storegate_requests_total)', 'nothing has the label plan'],
])('%s would be found out', (expr, fault) => {
  expect(faultsIn(expr)).toEqual([fault]);
});
