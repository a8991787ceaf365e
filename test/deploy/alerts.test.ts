import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { parse, stringify } from 'yaml';
import { temporaryFolders } from '../support/temporary.ts';
import { promtool } from './promtool.ts';
import { alerts, alertTests, root, ruleFiles, writeRules } from './shipped.ts';

interface Expectation {
  readonly expr: string;
  readonly exp_samples: readonly { readonly labels: string }[];
}

function ownRules(folder: string, file: string): string {
  const text = readFileSync(file, 'utf8');
  const named = alerts.filter(({ alert }) => text.includes(`"${alert}"`)).map(({ expr }) => expr);
  const copy = join(folder, basename(file));
  const rule_files = writeRules(folder, [...named, text]);
  writeFileSync(copy, stringify({ ...parse(text), rule_files }));
  return copy;
}

const expectations = alertTests.flatMap((file) => {
  const { tests } = parse(readFileSync(file, 'utf8')) as {
    tests: { promql_expr_test: readonly Expectation[] }[];
  };
  return tests.flatMap(({ promql_expr_test }) => promql_expr_test);
});

/** The anchor of a heading: lower case, no punctuation, hyphens for spaces. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const temporary = temporaryFolders();

describe('promtool', () => {
  test('accepts the configuration and the rules that it loads', () => {
    const folder = temporary();
    cpSync(join(root, 'deploy'), folder, { recursive: true });
    const config = join(folder, 'prometheus.yml');
    const token = join(folder, 'token');
    writeFileSync(token, 'any');
    const page = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
    const [, named] = /credentials_file: (\S+) \}/.exec(page)!;
    const text = readFileSync(config, 'utf8');
    // The file of the token is that of the page.
    expect(text).toContain(`credentials_file: ${named}\n`);
    writeFileSync(config, text.replace(named!, token));
    const said = promtool('check', 'config', config);
    for (const file of ruleFiles) expect(said).toContain(basename(file));
  });

  test('finds no problem in the rules', () => {
    promtool('check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles);
  });

  test.each(alertTests.map((file) => [basename(file, '.yml'), file]))(
    'sees the alerts fire and be silent: %s',
    (_, file) => {
      promtool('test', 'rules', ownRules(temporary(), file));
    },
  );
});

describe.each(alerts)('$alert', ({ alert, for: held, labels, annotations }) => {
  const own = expectations.filter(({ expr }) =>
    expr.includes(`alertname="${alert}", alertstate="firing"`),
  );
  const firing = own.flatMap(({ exp_samples }) => exp_samples.map((sample) => sample.labels));

  test('has a test in which it fires, and one in which it does not', () => {
    expect(firing).not.toEqual([]);
    expect(own.some(({ exp_samples }) => exp_samples.length === 0)).toBe(true);
  });

  test('waits, has a severity, and says what it means', () => {
    expect(held).toMatch(/^\d+[mh]$/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(annotations.summary).toMatch(/\.$/);
    expect(annotations.condition).toMatch(/^[^{]{20,}\.$/);
    expect(annotations.description).toMatch(/^.{60,}\.$/);
  });

  test('names the section of a page that says what to do, and that names the alert', () => {
    const [page, anchor] = annotations.runbook!.split('#');
    const sections = readFileSync(join(root, page!), 'utf8').split(/^#+ /m).slice(1);
    const section = sections.find((text) => anchorOf(text.split('\n')[0]!) === anchor);
    expect(section).toContain(`\`${alert}\``);
  });

  test('names only labels that it has when it fires', () => {
    const texts = Object.values(annotations).join();
    const named = [...texts.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!);
    for (const one of firing)
      expect(named.filter((label) => !one.includes(` ${label}=`))).toEqual([]);
  });
});
