import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** Labels of an alert that fires, besides its name and job. */
export type Firing = Readonly<Record<string, string>>;

interface AlertTest {
  readonly name: string;
  /** Of the values; by default a minute. */
  readonly interval?: string;
  /** Of the job of gateways, unless they name another one. */
  readonly series: Readonly<Record<string, string>>;
  /** By alert, which may be followed by matchers, and time. */
  readonly alerts: Readonly<Record<string, Readonly<Record<string, readonly Firing[]>>>>;
  /** Further expectations, in the form of promtool. */
  readonly promql_expr_test?: readonly object[];
}

interface AlertTests {
  readonly tests: readonly AlertTest[];
  readonly [option: string]: unknown;
}

const folder = join(import.meta.dirname, 'alerts');
export const alertTests = readdirSync(folder).map((file) => ({
  file,
  ...(parse(readFileSync(join(folder, file), 'utf8')) as AlertTests),
}));

const withJob = (series: string) => {
  const [, metric, labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series)!;
  if (labels.includes('job=')) return series;
  return `${metric}{job="storegate"${labels && `, ${labels}`}}`;
};

const labelsIn = (labels: Firing) =>
  Object.entries(labels).map(([name, value]) => `, ${name}="${value}"`);

function expectationsOf(alerts: AlertTest['alerts']): object[] {
  return Object.entries(alerts).flatMap(([alert, times]) => {
    const [, name, matchers] = /^(\w+)(?:\{(.*)\})?$/.exec(alert)!;
    const firing = `alertname="${name}", alertstate="firing"`;
    const expr = `ALERTS{${firing}${matchers === undefined ? '' : `, ${matchers}`}}`;
    return Object.entries(times).map(([eval_time, all]) => ({
      expr,
      eval_time,
      exp_samples: all.map((one) => ({
        labels: `ALERTS{${firing}, job="storegate"${labelsIn(one).join('')}}`,
        value: 1,
      })),
    }));
  });
}

/** The input of `promtool test rules`, without the names of the rule files. */
export function promtoolInput({ file, tests, ...options }: (typeof alertTests)[number]): object {
  const all = tests.map(({ name, interval = '1m', series, alerts, promql_expr_test = [] }) => ({
    name,
    interval,
    input_series: Object.entries(series).map(([one, values]) => ({ series: withJob(one), values })),
    promql_expr_test: [...expectationsOf(alerts), ...promql_expr_test],
  }));
  return { evaluation_interval: '1m', ...options, tests: all };
}
