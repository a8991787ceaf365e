import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parse, stringify } from 'yaml';

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

interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly { readonly expr: string }[];
  }[];
}

/**
 * Writes the rules with one of these expressions, and the recordings that they need: promtool
 * evaluates every rule at every step. Returns the names of the files in `folder`.
 */
export function writeRules(folder: string, expressions: readonly string[]): string[] {
  const needed = new Set(expressions);
  // A set also iterates over entries that are added meanwhile.
  for (const expr of needed)
    for (const { record, expr: source } of recordings)
      if (expr.includes(record)) needed.add(source);
  return ruleFiles.map((rules) => {
    const { groups } = parse(readFileSync(rules, 'utf8')) as Rules;
    const own = groups.map((group) => ({
      ...group,
      rules: group.rules.filter(({ expr }) => needed.has(expr)),
    }));
    const name = basename(rules);
    const text = stringify({ groups: own.filter(({ rules }) => rules.length > 0) });
    writeFileSync(join(folder, name), text);
    return name;
  });
}

/** Of alerts that can change if one of these metrics does. */
export function expressionsReading(metrics: readonly string[]): string[] {
  const names = new Set(metrics);
  for (const name of names)
    for (const { record, expr } of recordings) if (expr.includes(name)) names.add(record);
  return alerts
    .map(({ expr }) => expr)
    .filter((expr) => [...names].some((it) => expr.includes(it)));
}

export const dashboardExpressions = panels.flatMap(({ title, targets = [] }) =>
  targets.map(
    ({ expr }) =>
      [title, expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')] as const,
  ),
);
