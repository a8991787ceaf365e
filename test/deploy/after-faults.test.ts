import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { stringify } from 'yaml';
import { isDeep } from '../runner/fast-check.ts';
import { temporaryFolders } from '../support/temporary.ts';
import { promtool } from './promtool.ts';
import { expressionsReading, writeRules } from './shipped.ts';

/** Minutes before a fault, in which all is well, and after it. */
const BEFORE = 32;
const AFTER = 32;
/** Minutes that a fault lasts: less than alerts wait, which is 1 to 15 minutes. */
const DURATIONS = isDeep ? [1, 2, 4, 9, 14] : [1, 4, 14];

/** Minutes after a fault until health is OK, and Prometheus has scraped and evaluated it. */
const NOTICED = 3;

/** A counter: per minute, without and with the fault. A gauge: its values. */
type Course = readonly [kind: 'counter' | 'gauge', well: number, fault: number];

const counter = (well: number, fault: number): Course => ['counter', well, fault];
const gauge = (well: number, fault: number): Course => ['gauge', well, fault];
const health = (fault: number) => ({ storegate_health: gauge(0, fault) });
const responses = (well: number, fault: number) => ({
  'storegate_requests_total{operation="listPets",method="GET",status="200"}': counter(well, fault),
});
const errors = (status: number, fault: number) => ({
  [`storegate_requests_total{operation="listPets",method="GET",status="${status}"}`]: counter(
    0,
    fault,
  ),
});
const refusals = (code: string, fault: number) => ({
  [`storegate_refusals_total{code="${code}"}`]: counter(0, fault),
});
/** Of 600 observations a minute, 300 are slow during the fault. */
const histogram = (name: string, bounds: readonly string[]) => ({
  [`${name}_bucket{operation="listPets",le="${bounds[0]}"}`]: counter(600, 300),
  [`${name}_bucket{operation="listPets",le="${bounds[1]}"}`]: counter(600, 600),
  [`${name}_bucket{operation="listPets",le="+Inf"}`]: counter(600, 600),
  [`${name}_count{operation="listPets"}`]: counter(600, 600),
});

const FAULTS: Readonly<Record<string, Readonly<Record<string, Course>>>> = {
  'backends fail': {
    ...responses(600, 0),
    ...errors(502, 600),
    ...refusals('upstream_unavailable', 600),
    'storegate_upstream_duration_seconds_count{operation="listPets"}': counter(600, 0),
    'storegate_backend_up{upstream="default",backend="s1:80"}': gauge(1, 0),
    ...health(2),
  },
  'a tenth of the responses are errors of the backend': {
    ...responses(600, 540),
    ...errors(500, 60),
    ...health(2),
  },
  'the backend is saturated': {
    ...responses(600, 300),
    ...errors(503, 300),
    ...refusals('upstream_busy', 300),
    'storegate_forwarded_requests_total{plan="free",result="answered"}': counter(600, 300),
    'storegate_forwarded_requests_total{plan="free",result="rejected"}': counter(0, 300),
    storegate_upstream_pending_requests: gauge(0, 50),
    storegate_upstream_retry_budget_exhausted_total: counter(0, 100),
    'storegate_backend_requests_total{upstream="default",backend="s1:80"}': counter(600, 300),
    ...health(2),
  },
  'the backend is slow': {
    ...responses(600, 600),
    ...histogram('storegate_upstream_duration_seconds', ['0.5', '5']),
    ...health(0),
  },
  'Redis is down': {
    ...responses(600, 600),
    'storegate_state_mode{mode="normal"}': gauge(1, Number.NaN),
    'storegate_state_mode{mode="local"}': gauge(Number.NaN, 1),
    'storegate_state_local_mode_requests_total{policy="local"}': counter(0, 600),
    'storegate_state_connections{status="down"}': gauge(Number.NaN, 1),
    storegate_key_cache_age_seconds: gauge(1, 600),
    ...health(1),
  },
  'Redis is slow': {
    ...responses(600, 600),
    ...histogram('storegate_state_duration_seconds', ['0.01', '0.5']),
    'storegate_state_mode{mode="normal"}': gauge(1, 1),
    'storegate_state_local_mode_requests_total{policy="local"}': counter(0, 60),
    ...health(0),
  },
  'workers end': {
    storegate_workers: gauge(2, 0),
    storegate_worker_exits_total: counter(0, 4),
    ...health(2),
  },
  'clients ignore their limits': {
    ...responses(600, 600),
    'storegate_requests_total{operation="listPets",method="GET",status="429"}': counter(0, 1_200),
    ...refusals('rate_limit_exceeded', 1_200),
    'storegate_bans_total{plan="free"}': counter(0, 20),
    ...health(0),
  },
  'the disk is full': { storegate_state_write_failing_seconds: gauge(0, 30), ...health(1) },
  'spans are lost': { 'storegate_spans_total{result="failed"}': counter(0, 60), ...health(0) },
  'responses end early': {
    ...responses(600, 600),
    storegate_incomplete_responses_total: counter(0, 300),
    ...health(0),
  },
  'a file has a mistake': { storegate_config_last_reload_successful: gauge(1, 0), ...health(1) },
  'the gateway is down': { up: gauge(1, 0), storegate_health: gauge(0, Number.NaN) },
  'the event loop is late': {
    nodejs_eventloop_lag_p99_seconds: gauge(0.01, 1),
    nodejs_eventloop_lag_max_seconds: gauge(0.01, 1),
    ...health(0),
  },
};

const LABELS = 'job="storegate",instance="a:9901"';

function seriesOf(name: string, [kind, well, fault]: Course, duration: number) {
  let sum = 0;
  const values = Array.from({ length: BEFORE + duration + AFTER }, (_, minute) => {
    const value = minute > BEFORE && minute <= BEFORE + duration ? fault : well;
    sum += value;
    const shown = kind === 'counter' ? sum : value;
    return Number.isNaN(shown) ? 'stale' : `${shown}`;
  });
  const labelled = name.includes('{') ? name.replace('{', `{${LABELS},`) : `${name}{${LABELS}}`;
  return { series: labelled, values: values.join(' ') };
}

/** An alert that begins to fire once all is well: operators cannot act on it. */
const LATE = 'ALERTS{alertstate="firing"} unless ALERTS{alertstate="firing"} offset 1m';

function testOf(courses: Readonly<Record<string, Course>>, duration: number) {
  const up = { up: gauge(1, 1), process_start_time_seconds: gauge(1, 1) };
  const end = BEFORE + duration;
  return {
    name: `${duration} minutes`,
    interval: '1m',
    input_series: Object.entries({ ...up, ...courses }).map(([name, course]) =>
      seriesOf(name, course, duration),
    ),
    promql_expr_test: Array.from({ length: AFTER - NOTICED }, (_, i) => ({
      expr: LATE,
      eval_time: `${end + NOTICED + i}m`,
      exp_samples: [],
    })),
  };
}

const folder = temporaryFolders();

function run(metrics: readonly string[], tests: readonly object[]): string {
  const own = folder();
  const file = join(own, 'tests.yml');
  const rule_files = writeRules(own, expressionsReading(metrics));
  writeFileSync(file, stringify({ rule_files, evaluation_interval: '1m', tests }));
  return promtool('test', 'rules', file);
}

const metricsOf = (courses: Readonly<Record<string, Course>>) =>
  Object.keys(courses).map((series) => series.split('{', 1)[0]!.replace(/_(?:bucket|count)$/, ''));

test.each(Object.entries(FAULTS))(
  'no alert begins to fire after %s, however long',
  (_, courses) => {
    run(
      metricsOf(courses),
      DURATIONS.map((duration) => testOf(courses, duration)),
    );
  },
);

test('the check finds an alert that fires late', () => {
  const courses = FAULTS['backends fail']!;
  const late = testOf(courses, 10);
  const begin = { ...late.promql_expr_test[0]!, eval_time: `${BEFORE + 2}m` };
  const check = () => run(metricsOf(courses), [{ ...late, promql_expr_test: [begin] }]);
  expect(check).toThrow(/StoregateBackend/);
});
