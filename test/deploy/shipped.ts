import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';

export const root = resolve(import.meta.dirname, '../..');

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Recording {
  readonly record: string;
  readonly expr: string;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly targets?: readonly {
    readonly expr: string;
    readonly legendFormat: string;
    readonly datasource: { readonly uid: string };
  }[];
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } };
}

export interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly {
      readonly name: string;
      readonly type: string;
      readonly query: unknown;
    }[];
  };
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');

function rulesOf<Rule>(file: string): readonly Rule[] {
  const { groups } = parse(read(`deploy/rules/${file}`)) as {
    groups: readonly { readonly rules: readonly Rule[] }[];
  };
  return groups.flatMap(({ rules }) => rules);
}

export const alerts = rulesOf<Alert>('alerts.yml');
export const recordings = rulesOf<Recording>('recording.yml');
export const dashboard = JSON.parse(read('deploy/grafana/storegate.json')) as Dashboard;
export const panels = dashboard.panels.filter(({ type }) => type !== 'row');
export const ruleFiles = ['alerts.yml', 'recording.yml'].map((file) =>
  join(root, 'deploy/rules', file),
);

export const alertTests = readdirSync(join(import.meta.dirname, 'alerts')).map((file) =>
  join(import.meta.dirname, 'alerts', file),
);

export const dashboardExpressions = panels.flatMap(({ title, targets = [] }) =>
  targets.map(
    ({ expr }) =>
      [title, expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')] as const,
  ),
);
